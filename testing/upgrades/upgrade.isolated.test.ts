import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkRestored } from "@/scripts/backup/check";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { checkVaultKey } from "@/server/domain/vault";
import { pool } from "@/server/platform/db";
import { textsOf } from "@/server/platform/text/header";
import { DAY_MS } from "@/server/platform/time/units";
import { startServer } from "@/server/web/server";
import { setSettings } from "@/testing/settings";
import { inlineStep, testClock } from "@/testing/world";
import { catalogOf, lostIn, refusedOf } from "./catalog";
import { type Known, type Replay, STATEMENTS } from "./known";
import { openOld, openUpgraded } from "./restore";

/* An installation of 0.2.0 with rows of every kind, after today's migrations (README.md in this folder). */

let known: Known;
let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  known = await openUpgraded();
  setSettings({ JOB_WAIT_SECONDS: 0 }); // no worker runs jobs here
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
});
afterAll(() => server.stop(0));

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: "-c capstan.project_id=*" });
  await client.connect();
  return work(client).finally(() => client.end());
}
const DATABASE = process.env.DATABASE_URL ?? "";

async function ask(
  key: string,
  target: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
) {
  const answer = await fetch(`${server.url}${target}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: answer.status, json: await answer.json() };
}

/**
 * Functions that were renamed on purpose, so that 0.2.0 fails and retries instead of running beside their replacement; each as
 * `catalogOf` names it (`function capstan_x(…) …`).
 */
const FENCED: string[] = [];
const isFenced = (statement: string) =>
  FENCED.some((line) => statement.includes(`${line.slice("function ".length, line.indexOf("("))}(`));

const EXECUTIONS = [
  "job",
  "pinned_execution",
  "pinned_bulk",
  "comparison",
  "capability_request",
  "pinned_attempt",
  "attempt",
];
const counts = async () => {
  const { rows } = await pool.query(
    `SELECT ${EXECUTIONS.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(", ")}`,
  );
  return rows[0];
};

test("migrations only expand: the names that 0.2.0 uses exist, and its inserts need no new columns", async () => {
  const { url } = await openOld();
  const older = await connected(url, catalogOf);
  expect(older.names.size).toBeGreaterThan(1_000);
  expect(lostIn(older, await connected(DATABASE, catalogOf))).toEqual(FENCED);
});

test("every statement that 0.2.0 sends can be prepared in the migrated database", async () => {
  const statements: string[] = JSON.parse(gunzipSync(readFileSync(STATEMENTS)).toString());
  expect(statements.length).toBeGreaterThan(300);
  expect(
    await connected(DATABASE, (client) =>
      refusedOf(
        client,
        statements.filter((text) => !isFenced(text)),
      ),
    ),
  ).toEqual([]);
});

test("a lost column or unique index, a new required column, and a statement that fails are reported", async () => {
  const { url } = await openOld();
  await connected(url, async (client) => {
    const older = await catalogOf(client);
    await client.query(`
      ALTER TABLE job RENAME error_code TO fault_code;
      ALTER TABLE job ADD COLUMN must text NOT NULL DEFAULT 'x';
      ALTER TABLE job ALTER COLUMN must DROP DEFAULT;
      DROP INDEX comparison_project_id_idempotency_key_key`);
    expect(lostIn(older, await catalogOf(client))).toEqual([
      "column job.error_code text",
      expect.stringMatching(/^unique ON public\.comparison .*idempotency_key/),
      "required job.must",
    ]);
    expect(await refusedOf(client, ["SELECT error_code FROM job", "SELECT id FROM job"])).toEqual([
      'column "error_code" does not exist: SELECT error_code FROM job',
    ]);
  });
});

test("receipts, records and manifests verify, and balances agree with the ledger", async () => {
  const { receipts, differences } = await connected(DATABASE, checkRestored);
  expect(receipts.wrong).toEqual([]);
  expect(receipts.verified).toBeGreaterThan(30);
  expect(differences).toEqual([]);
  await checkVaultKey(pool);
});

test("replaying any idempotency key of 0.2.0 returns the first id, and creates no row of an execution", async () => {
  const before = await counts();
  const again = async ({ name, key, target, headers, body, idField }: Replay) => {
    const { status, json } = await ask(key, target, { body, headers });
    return { name, status, id: json[idField] };
  };
  expect(known.replays.length).toBeGreaterThan(60);
  const answers = [];
  for (const replay of known.replays) answers.push(await again(replay));
  expect(answers).toEqual(known.replays.map(({ name, id }) => ({ name, status: 200, id })));
  expect(await counts()).toEqual(before);
});

test("another request under an idempotency key of 0.2.0 is refused with the id of the first job", async () => {
  const first = known.replays.find(({ name }) => name === "a job, its key in the header");
  const { key = "", target = "", headers, id } = first ?? {};
  const input = { messages: [{ role: "user", content: "Another question" }] };
  expect(await ask(key, target, { headers, body: { input } })).toMatchObject({
    status: 409,
    json: { code: "IdempotencyConflict", details: { jobId: id } },
  });
});

/** The table with the row that a request of this name creates. */
const TABLES: Record<string, string> = {
  "a job": "job",
  "an invoke": "job",
  "a pin": "pinned_execution",
  "a bulk": "pinned_bulk",
  "a comparison": "comparison",
};

test("an idempotency key that one environment used in 0.2.0 runs once in another, and each environment replays its own execution", async () => {
  const { development = "", production = "" } = known.keys;
  const inHeader = known.replays.filter(
    ({ environment, name }) =>
      environment === "development" && name.endsWith("of other letters in the header"),
  );
  expect(inHeader.length).toBe(6);
  for (const { name, key, target, headers, body, idField, id } of inHeader) {
    const before = await counts();
    const sent = async (caller: string) => (await ask(caller, target, { headers, body })).json[idField];
    const other = await sent(production);
    const after = await counts();
    const table = TABLES[name.split(",")[0] ?? ""];
    if (table) expect([name, after[table] - before[table]]).toEqual([name, 1]);
    else expect([name, other]).toEqual([name, id]); // a capability request has no environment
    expect([name, await sent(production), await sent(key)]).toEqual([name, other, id]);
    expect(await counts()).toEqual(after);
    if (table !== "job") continue;
    const [text = ""] = textsOf([headers["idempotency-key"] ?? ""]);
    for (const [caller, own] of [
      [development, id],
      [production, other],
    ] as const) {
      const list = `/v1/projects/${known.projectId}/jobs?idempotencyKey=${encodeURIComponent(text)}`;
      const { items } = (await ask(caller, list)).json;
      expect([name, items.map((item: { jobId: string }) => item.jobId)]).toEqual([name, [own]]);
    }
  }
});

test("the key of a retry that 0.2.0 made finds that retry, even if another environment uses the key", async () => {
  const retried = known.replays.find(({ name }) => name === "a retry under its own key");
  const { key = "", target = "", body, id } = retried ?? {};
  const headers = { "idempotency-key": `retry-${target.split("/")[3]}` };
  const input = { messages: [{ role: "user", content: "Hello" }] };
  const path = "/v1/capabilities/text.general.fast.v1/jobs";
  const { status, json } = await ask(known.keys.production, path, { headers, body: { input } });
  expect(status).toBe(200);
  expect(json.jobId).not.toBe(id);
  expect((await ask(key, target, { body })).json.jobId).toBe(id);
});

test("keys work as before, and one that expired or was rotated long ago is refused", async () => {
  const { ids, keys, otherKey } = known;
  const read = async (key: string) => (await ask(key, `/v1/jobs/${ids.drawn}`)).status;
  expect([await read(keys.development), await read(keys.lasting), await read(keys.unbound)]).toEqual([
    200, 200, 200,
  ]);
  expect([await read(keys.expired), await read(keys.rotatedFrom)]).toEqual([401, 401]);
  expect([await read(keys.production), await read(otherKey)]).toEqual([404, 404]);
});

test("work that 0.2.0 left unfinished is resumed and ends once", async () => {
  const { projectId } = known;
  const clock = testClock();
  clock.advance(DAY_MS); // ends the leases
  const ctx = systemCtx("worker", clock.now);
  const { running = "", waiting = "", bulkUnderWay = "" } = known.ids;
  expect((await jobs.get(ctx, waiting)).status).toBe("awaiting_approval");
  await pins.sweep(ctx, { projectId });
  await jobs.sweep(ctx, { projectId });
  await jobs.run(ctx, running, inlineStep(clock));
  await pins.runBulk(ctx, bulkUnderWay, inlineStep(clock));
  const { rows } = await pool.query(
    "SELECT status, hold_state, (SELECT count(*) FROM receipt WHERE job_id = job.id) AS receipts FROM job WHERE id = $1",
    [running],
  );
  expect(rows).toEqual([{ status: "failed", hold_state: "released", receipts: 1 }]); // its deadline has long passed
  const bulk = await pins.getBulk(systemCtx("test"), bulkUnderWay);
  expect(bulk.counts).toMatchObject({ queued: 0, running: 0, succeeded: 3, failed: 1, ambiguous: 1 });
  expect(bulk.safelyRetryable).toBe(1); // the item whose process ended before it was sent
  expect((await connected(DATABASE, checkRestored)).differences).toEqual([]);
});

test("pruned requests stay pruned, and a disabled endpoint stays disabled", async () => {
  const { ids, keys } = known;
  for (const id of [ids.pruned, ids.hashesOnly])
    expect((await ask(keys.development, `/v1/jobs/${id}/request`)).json).toMatchObject({
      contentState: "pruned",
    });
  const { json } = await ask(keys.development, "/v1/delivery-endpoints");
  const enabled = Object.fromEntries(
    json.items.map((each: { endpointId: string; enabled: boolean }) => [each.endpointId, each.enabled]),
  );
  expect([enabled[ids.strong ?? ""], enabled[ids.weak ?? ""]]).toEqual([true, false]);
});
