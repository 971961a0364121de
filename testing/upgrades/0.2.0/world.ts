import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { checkLedger, credit } from "@/server/domain/billing";
import { SCOPES, systemCtx } from "@/server/domain/ctx";
import { acceptInvitation, invite } from "@/server/domain/invitations";
import * as jobs from "@/server/domain/jobs";
import { outboxMail } from "@/server/domain/notifications";
import { createKey, rotateKey } from "@/server/domain/organizations";
import { claimItems, takeBulk } from "@/server/domain/pins/bulk/claims";
import { runBulk, work } from "@/server/domain/pins/bulk/run";
import { plantCanary } from "@/server/domain/vault";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { registered } from "@/server/sql/statement";
import { startServer } from "@/server/web/server";
import { finish } from "@/testing/api";
import { bulkOf, itemsOf } from "@/testing/bulks";
import { compared, pinned } from "@/testing/comparisons";
import { signIn } from "@/testing/sessions";
import { type Estate, type House, openHouse, settle } from "@/testing/tenant-matrix/estate";
import { ctxOf } from "@/testing/tenants";
import { writeDump } from "@/testing/upgrades/dump";
import { vendorAsOpenAi } from "@/testing/vault";
import { startJob } from "@/testing/world";

/*
 * Runs in a checkout of 0.2.0 against that version's own code; `testing/upgrades/write.ts` copies it there. It creates two
 * organizations with rows of every kind, and writes the facts that later tests need to `known.json`.
 */

const TO = process.env.UPGRADES_TO ?? "";
const TEXT = "/v1/capabilities/text.general.fast.v1";
const IMAGE = "/v1/capabilities/image.generate.v1";
const FORTY_YEARS_S = 40 * 365 * 86_400;
const system = systemCtx("test");
const say = (content: string) => ({ messages: [{ role: "user", content }] });
const on = (model: string) => ({ provider: "sandbox", model, api: "responses" });

/** A request to repeat later: `id` is the value of `idField` in its response. */
type Replay = {
  name: string;
  environment: string;
  target: string;
  key: string;
  headers: Record<string, string>;
  body: unknown;
  idField: string;
  id: string;
};

let url = "";
async function post(key: string, target: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}${target}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, `${target}: ${text}`).toBeLessThan(300);
  return JSON.parse(text || "null");
}

async function change(method: "PATCH" | "PUT", key: string, target: string, body: unknown) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${target}`, { method, headers, body: JSON.stringify(body) });
  expect(answer.status, await answer.text()).toBe(200);
}

/** Writes ledger entries for money that only a wallet row has, so that the books agree. */
async function bookMoney({ organizationId }: { organizationId: string }) {
  await pool.query("UPDATE wallet SET balance_micros = 0 WHERE organization_id = $1", [organizationId]);
  for (const isTest of [true, false])
    await credit(system, { organizationId, amountMicros: 1_000_000_000_000, isTest, reason: "for a test" });
}

const openBooked = async () => {
  const house = await openHouse();
  await bookMoney(house);
  return house;
};

const keyOf = async (wanted: object) =>
  createKey(system, { name: "made by 0.2.0", environment: "development", scopes: [...SCOPES], ...wanted });

/** Requests to each endpoint that takes an idempotency key, with keys of several forms in the body and in the header. */
async function keyed(environment: string, key: string): Promise<Replay[]> {
  const input = say(`How deep is the sea of ${environment}?`);
  const pin = { pin: on("sandbox-1"), input: `How deep is the lake of ${environment}?` };
  const items = ["one", "two"].map((id) => ({ id, input: `How deep is the well of ${id}?` }));
  const doors: [name: string, target: string, body: object, idField: string][] = [
    ["a job", `${TEXT}/jobs`, { input }, "jobId"],
    [
      "an invoke",
      "/v1/capabilities/compute.evaluate.v1/invoke",
      { input: { expression: "6 * 7" } },
      "executionId",
    ],
    ["a pin", "/v1/inference/pinned", pin, "executionId"],
    ["a bulk", "/v1/inference/pinned/bulk", { pin: on("sandbox-1"), items }, "bulkId"],
    ["a comparison", `${TEXT}/comparisons`, { competitors: pinned("1", "2"), input }, "comparisonId"],
    [
      "a capability request",
      "/v1/capability-requests",
      { summary: "Sort stamps", need: "By country." },
      "id",
    ],
  ];
  const made: Replay[] = [];
  // A header that a program sends as UTF-8 is read as Latin-1: 0.2.0 stored `schlÃ¼ssel`. fetch sends each of these
  // characters as one byte.
  const asBytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
  for (const [name, target, body, idField] of doors) {
    const ways: [way: string, body: object, headers: Record<string, string>][] = [
      ["in the body", { ...body, idempotencyKey: `${environment}-${name}` }, {}],
      ["of other letters in the body", { ...body, idempotencyKey: `${environment}-schlüssel-${name}` }, {}],
      ["in the header", body, { "idempotency-key": `header-${environment}-${name}` }],
      [
        "of other letters in the header",
        body,
        { "idempotency-key": asBytes(`kopf-${environment}-schlüssel-${name}`) },
      ],
      ["in quotes in the header", body, { "idempotency-key": `"quoted-${environment}-${name}"` }],
    ];
    for (const [way, sent, headers] of ways) {
      const answer = await post(key, target, sent, headers);
      const request = { environment, target, key, headers, body: sent };
      made.push({ name: `${name}, its key ${way}`, ...request, idField, id: answer[idField] });
    }
  }
  return made;
}

/** Jobs in many states, and retries of a failed one. */
async function jobsOf(house: House, estate: Estate) {
  const { key } = estate;
  const submit = async (target: string, body: object) =>
    (await post(key, `${target}/jobs`, body)).jobId as string;
  const model = (preferredModel: string) => ({ preferredModel });
  const running = await submit(TEXT, { input: say("Which ships are in the harbour?") });
  await startJob(system, running);
  const set = (micros: number | null) =>
    pool.query("UPDATE project SET approval_threshold_micros = $2 WHERE id = $1", [estate.projectId, micros]);
  await set(0);
  const waiting = await submit(IMAGE, { input: { prompt: "A lighthouse that waits" } });
  await set(null);
  const failed = await submit(TEXT, { input: say("Say no"), ...model("sandbox-refuse") });
  await finish(failed);
  const headers = { "idempotency-key": "retry-of-0.2.0" };
  const retried = await post(key, `/v1/jobs/${failed}/retry`, {}, headers);
  const own = await post(key, `/v1/jobs/${failed}/retry`, {});
  const attention = await submit(IMAGE, {
    input: { prompt: "Four doors, as a sheet", sheet: { rows: 2, columns: 2, slice: true } },
    ...model("sandbox-garbled"),
  });
  await finish(attention);
  const canceled = await submit(TEXT, { input: say("Never mind") });
  await post(key, `/v1/jobs/${canceled}/cancel`, undefined);
  const secret = await submit(TEXT, {
    input: say("A private question"),
    context: { dataClassification: "PrivateUserContent" },
  });
  await finish(secret);
  const target = `/v1/adapter-defaults/image.generate.v1?projectId=${estate.projectId}`;
  await change("PUT", key, target, { alias: estate.ids.alias });
  const drawn = await submit(IMAGE, {
    input: { prompt: "A kite in the house style", adapters: [{ alias: estate.ids.alias }] },
  });
  await finish(drawn);
  const forget = async (retentionRequirement: string) => {
    const context = { retentionRequirement };
    const jobId = await submit(TEXT, { input: say("A question to forget"), context });
    await finish(jobId);
    return jobId;
  };
  const [pruned, hashesOnly] = [await forget("EncryptedShortTerm"), await forget("HashesOnly")];
  const later = { ...system, now: () => new Date(Date.now() + 8 * DAY_MS) };
  await jobs.prune(later, { projectId: estate.projectId });
  await jobs.announce(system, { projectId: estate.projectId });
  const retries = [
    { name: "a retry under a key", target: `/v1/jobs/${failed}/retry`, headers, id: retried.jobId },
    { name: "a retry under its own key", target: `/v1/jobs/${failed}/retry`, headers: {}, id: own.jobId },
  ].map(
    (each) => ({ environment: "development", key, body: {}, idField: "jobId", ...each }) satisfies Replay,
  );
  return {
    retries,
    ids: {
      running,
      waiting,
      failed,
      attention,
      canceled,
      secret,
      drawn,
      pruned,
      hashesOnly,
      lost: await lostOf(house),
    },
  };
}

/** A partly failed bulk, retried without a key (the service derives one from the bulk's id) and with a key. */
async function retriedBulk(key: string): Promise<Replay[]> {
  const inputs = ["one", "[refuse] two"];
  const { bulkId } = await post(key, "/v1/inference/pinned/bulk", bulkOf(inputs));
  await runBulk(system, bulkId, { runId: bulkId, run: (_, step) => step(), sleep: async () => {} });
  const target = `/v1/inference/pinned/bulk/${bulkId}/retry`;
  const replays: Replay[] = [];
  for (const headers of [{}, { "idempotency-key": "bulk-retry-of-0.2.0" }] as Record<string, string>[]) {
    const { bulkId: id } = await post(key, target, {}, headers);
    const name = `a retry of a bulk under ${"idempotency-key" in headers ? "a key" : "its own key"}`;
    replays.push({ name, environment: "development", target, key, headers, body: {}, idField: "bulkId", id });
  }
  return replays;
}

/** The job with an unconfirmed charge, made by `settle`. */
async function lostOf({ organizationId }: House): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM job WHERE organization_id = $1 AND hold_state = 'ambiguous' LIMIT 1",
    [organizationId],
  );
  return rows[0]?.id ?? "";
}

/** A bulk with an ended item, one with an unconfirmed charge, a running one and waiting ones. */
async function bulkUnderWay(key: string): Promise<string> {
  const inputs = ["one", "[lost] two", "three", "four", "five"];
  const { bulkId } = await post(key, "/v1/inference/pinned/bulk", bulkOf(inputs, { concurrency: 1 }));
  const taken = await takeBulk(bulkId, "worker@0.2.0", new Date());
  const held = { id: bulkId, fence: taken?.fence ?? 0 };
  await vi.waitFor(
    async () => {
      await work(system, held, { claimMs: 1 });
      expect((await itemsOf(bulkId)).slice(0, 2).map(({ status }) => status)).toEqual([
        "succeeded",
        "ambiguous",
      ]);
    },
    { timeout: 30_000, interval: 5 },
  );
  await vi.waitFor(async () => {
    const items = await itemsOf(bulkId);
    if (items.some(({ status }) => status === "running")) return;
    const wanted = { wanted: 1, owner: "worker@0.2.0", leaseMs: 60_000, now: new Date() };
    expect(await claimItems(held, wanted)).toHaveLength(1);
  });
  return bulkId;
}

/** Secrets as 0.2.0 accepted them: strong, weak, padded, too short, too long. One endpoint is disabled. */
async function endpointsOf(key: string) {
  const open = async (name: string, secret: string) =>
    (await post(key, "/v1/delivery-endpoints", { url: `https://hooks.example/${name}`, secret }))
      .endpointId as string;
  const strong = await open("strong", `whsec_${Buffer.alloc(24, "s").toString("base64")}`);
  const weak = await open("weak", "short");
  const padded = await open("padded", "  a secret with blanks at both of its ends  ");
  const short = await open("short", `whsec_${Buffer.alloc(8, "s").toString("base64")}`);
  const long = await open("long", `whsec_${Buffer.alloc(80, "s").toString("base64")}`);
  await change("PATCH", key, `/v1/delivery-endpoints/${weak}`, { enabled: false });
  return { strong, weak, padded, short, long };
}

async function keysOf(estate: Estate, house: House) {
  const { projectId } = estate;
  const lasting = await keyOf({ projectId, expiresInSeconds: FORTY_YEARS_S });
  const before = systemCtx("test", () => new Date(Date.now() - DAY_MS));
  const expired = await createKey(before, {
    name: "expired",
    projectId,
    environment: "development",
    expiresInSeconds: 3_600,
  });
  const old = await createKey(before, { name: "rotated", projectId, environment: "development" });
  const rotated = await rotateKey({ ...house.owner.ctx, now: before.now }, old.keyId, {
    overlapSeconds: 3_600,
  });
  return {
    lasting: lasting.apiKey,
    expired: expired.apiKey,
    rotatedFrom: old.apiKey,
    rotatedTo: rotated.apiKey,
  };
}

/** An accepted and an expired invitation, beside the open one of `settle`; active and ended sessions. */
async function peopleOf({ organizationId, owner }: House) {
  const email = "accepted@invited.test";
  await invite(owner.ctx, { organizationId, email, role: "viewer" });
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM mail WHERE recipient = $1", [email]);
  const { text } = await outboxMail(system, rows[0]?.id ?? "");
  const token = /\/invitation#(\S+)/.exec(text)?.[1] ?? "";
  const anybody = ctxOf({ kind: "anonymous", id: "anonymous", address: "203.0.113.9" });
  await acceptInvitation(anybody, {
    token,
    displayName: "Ada Accepted",
    password: "a password of this world",
  });
  const before = () => new Date(Date.now() - 60 * DAY_MS);
  await invite(
    { ...owner.ctx, now: before },
    { organizationId, email: "expired@invited.test", role: "member" },
  );
  const userId = owner.ctx.principal.id;
  return { session: await signIn(userId), expiredSession: await signIn(userId, before) };
}

test("an installation of 0.2.0 with rows of every kind", async () => {
  const server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  url = server.url;
  const vendor = await vendorAsOpenAi();
  env.JOB_WAIT_SECONDS = 0;
  await plantCanary(pool);
  const [house, other] = [await openBooked(), await openBooked()];
  const estate = await settle(house, house.projectId);
  const theirs = await settle(other, other.projectId);
  const { projectId } = estate;
  const development = (await keyOf({ projectId })).apiKey;
  const production = (await keyOf({ projectId, environment: "production" })).apiKey;
  const { ids, retries } = await jobsOf(house, estate);
  const replays = [
    ...(await keyed("development", development)),
    ...(await keyed("production", production)),
    ...retries,
    ...(await retriedBulk(development)),
  ];
  const judge = {
    post: (target: string, body?: unknown) => post(development, target, body).then((json) => ({ json })),
  };
  const judged = await compared(judge as unknown as Parameters<typeof compared>[0], true); // the function uses only these members of a tenant
  const bulk = await bulkUnderWay(development);
  const endpoints = await endpointsOf(development);
  const keys = await keysOf(estate, house);
  const sessions = await peopleOf(house);
  const { differences } = await checkLedger(system);
  expect(differences).toEqual([]);
  const known = {
    organizationId: house.organizationId,
    projectId,
    otherOrganizationId: other.organizationId,
    otherProjectId: theirs.projectId,
    otherKey: theirs.key,
    keys: { development, production, unbound: house.unboundKey, ...keys },
    ownerId: house.owner.ctx.principal.id,
    ids: {
      ...estate.ids,
      ...ids,
      bulkUnderWay: bulk,
      judged: judged.comparisonId,
      ...endpoints,
      ...sessions,
    },
    replays,
  };
  writeFileSync(join(TO, "known.json"), `${JSON.stringify(known, null, 2)}\n`);
  const client = new pg.Client({ connectionString: env.DATABASE_URL, options: "-c capstan.project_id=*" });
  await client.connect();
  await writeDump(client, join(TO, "rows.gz"));
  await writeStatements(client);
  await client.end();
  await server.stop();
  await vendor.close();
}, 300_000);

const READS_OR_WRITES = /^(WITH|SELECT|INSERT|UPDATE|DELETE)\b/;

/** Every statement that this version registers or was seen sending, as far as its own schema supports them. */
async function writeStatements(client: pg.Client) {
  for (const file of readdirSync("server", { recursive: true, encoding: "utf8" }))
    if (
      /(?<!\.test)\.ts$/.test(file) &&
      readFileSync(join("server", file), "utf8").includes('from "@/server/sql/statement"')
    )
      await import(join(process.cwd(), "server", file));
  const seen = (process.env.STATEMENTS_FROM ?? "")
    .split(",")
    .filter(existsSync)
    .flatMap((file) => readFileSync(file, "utf8").split("\n").filter(Boolean))
    .map((line): string => JSON.parse(line).trim()); // record.mjs writes one JSON text per line
  const texts = [...new Set([...registered().map(({ text }) => text), ...seen])].filter((text) =>
    READS_OR_WRITES.test(text),
  );
  const known: string[] = [];
  for (const text of texts) {
    const isKnown = await client.query(`PREPARE tried AS ${text}`).then(
      () => true,
      () => false, // a test's own table, or several statements in one text
    );
    if (isKnown) await client.query("DEALLOCATE tried");
    if (isKnown) known.push(text);
  }
  writeFileSync(join(TO, "statements.gz"), gzipSync(JSON.stringify(known.sort()), { level: 9 }));
}
