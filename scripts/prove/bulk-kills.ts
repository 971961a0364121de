import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import {
  BULK_POINTS,
  type FigureCheck,
  type Installation,
  LEDGER_IN_BALANCE,
  openInstallation,
  report,
  until,
} from "./installation";

const CLIENTS = 4;
const LONGEST_MS = 25 * 60_000;
const SETTLE_MS = 240_000;
const RANDOM_KILL_MS = 3_000;
/**
 * Least items between two kills of the worker. A dead worker is noticed by its leases, so one that is killed before it has done
 * something would never run anything.
 */
const LEAST_DONE = 40;

type Sent = { key: string; bulkId: string | null };

/** Scripts of items, by their number: most are answered, some wait, are refused, fail, or are lost. */
const SCRIPTS = ["", "", "", "[slow 150] ", "", "[slow 400] ", "", "[busy 1] ", "", "[refuse] ", "", "[fail] ", "[empty] ", "", "[lost] ", ""]; // biome-ignore format: one list

/** Kills web and worker this many times in all while bulks run. Every item must end once, and none may be sent twice. */
export async function proveKills(kills: number): Promise<boolean> {
  const installation = await openInstallation({ web: 0.08, worker: 0.003 }, {}, BULK_POINTS);
  const { apiKey } = await installation.tenant("Bulks");
  const startedAt = Date.now();
  const load = loadOn(installation, apiKey);
  await killUnderLoad(installation, kills, startedAt, load);
  const died = await installation.deaths();
  const killed = installation.parts.map(({ name, kills: times }) => ({ name, times }));
  const killSeconds = seconds(startedAt);
  installation.calm();
  load.hasEnded = true;
  await load.done;

  const database = await installation.connect();
  const count = async (sql: string) => Number((await database.query(sql)).rows[0]?.n ?? 0);
  await until(async () => (await count(UNFINISHED)) === 0, SETTLE_MS);
  const figures = await figuresOf(installation, database, load.sent);
  console.log(
    `\nkills: ${killed.map(({ name, times }) => `${name} ${times}`).join(", ")} in ${killSeconds} s; at named places:`,
  );
  for (const point of new Set(Object.values(BULK_POINTS).flat()))
    console.log(`  ${point.padEnd(26)} ${died[point] ?? 0}`);
  const broken = report(figures);
  const tooFew =
    killed.reduce((sum, { times }) => sum + times, 0) < kills ||
    killed.some(({ times }) => times < kills / 10);
  if (tooFew) console.log("BROKEN too few kills to say anything");
  await database.end();
  await installation.close(broken > 0 || tooFew);
  return broken === 0 && !tooFew;
}

type Load = { sent: Sent[]; hasEnded: boolean; done: Promise<unknown> };

/** Clients that send bulks until `hasEnded` is set; `done` then resolves. */
function loadOn({ base }: Installation, apiKey: string): Load {
  const load: Load = { sent: [], hasEnded: false, done: Promise.resolve() };

  /** Asks until there is an answer, as a client should when one is lost. */
  async function ask(method: string, path: string, body?: string): Promise<Answer> {
    for (;;) {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(30_000),
      }).catch(() => null);
      const said = (await answer?.json().catch(() => null)) as Answer | null | undefined;
      if (answer && said) {
        if (answer.status === 200 || answer.status === 409) return said;
        if (answer.status < 500 && answer.status !== 429)
          throw new Error(`unexpected ${answer.status}: ${JSON.stringify(said)}`);
      }
      await sleep(100);
    }
  }

  async function client(number: number) {
    for (let n = 0; !load.hasEnded; n++) {
      const one: Sent = { key: randomUUID(), bulkId: null };
      load.sent.push(one);
      const body = JSON.stringify({
        pin: { provider: "sandbox", model: "sandbox-mixed", api: "responses" },
        sampling: { maxOutputTokens: 64 },
        concurrency: [8, 16, 32, 64][number % 4],
        idempotencyKey: one.key,
        items: itemsOf(number, n),
      });
      const { bulkId } = await ask("POST", "/v1/inference/pinned/bulk", body);
      one.bulkId = bulkId;
      const path = `/v1/inference/pinned/bulk/${bulkId}`;
      const cancelAt = n % 5 === 4 ? Date.now() + 2_000 : Number.POSITIVE_INFINITY;
      for (;;) {
        const { nextAction } = await ask("GET", `${path}?limit=1`);
        if (nextAction === "stop" || load.hasEnded) break;
        if (Date.now() > cancelAt) await ask("POST", `${path}/cancel`);
        await sleep(500);
      }
    }
  }

  load.done = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number))).catch((cause) => {
    console.error(cause);
    load.hasEnded = true;
  });
  return load;
}

const itemsOf = (client: number, n: number) =>
  Array.from({ length: 100 + ((client * 37 + n * 61) % 300) }, (_, item) => ({
    id: `item-${item}`,
    input: `${SCRIPTS[(item * 7 + n) % SCRIPTS.length]}Item ${item} of bulk ${n} of client ${client}: what is a capstan?`,
  }));

/** Kills at random, besides the deaths at named places, until enough have died, the load has failed or it takes too long. */
async function killUnderLoad(installation: Installation, kills: number, startedAt: number, load: Load) {
  const { parts } = installation;
  const total = () => parts.reduce((sum, part) => sum + part.kills, 0);
  let nextKill = Date.now() + RANDOM_KILL_MS;
  let doneBefore = 0;
  for (let pass = 1; total() < kills && !load.hasEnded && Date.now() - startedAt < LONGEST_MS; pass++) {
    await sleep(250);
    if (pass % 80 === 0)
      console.log(
        `${seconds(startedAt)} s: ${load.sent.length} bulks, kills ${parts.map((part) => `${part.name} ${part.kills}`).join(", ")}, ${JSON.stringify(await installation.deaths())}`,
      );
    if (Date.now() < nextKill) continue;
    const done = (await installation.sandboxLog()).length;
    const isWorkers = done - doneBefore >= LEAST_DONE;
    const [web, worker] = parts;
    (isWorkers ? worker : web)?.child.kill("SIGKILL");
    if (isWorkers) doneBefore = done;
    nextKill = Date.now() + RANDOM_KILL_MS * (0.5 + Math.random());
  }
}

/** Compares our records, the sandbox's own log and the clients' answers. */
async function figuresOf(
  installation: Installation,
  database: pg.Client,
  sent: Sent[],
): Promise<FigureCheck[]> {
  // The sandbox receives an execution's id with each of its submissions.
  const perItem = await installation.submissions("attemptId");
  const perBody = await installation.submissions("sha256");
  const idsOf = async (sql: string) => (await database.query<{ id: string }>(sql)).rows.map(({ id }) => id);
  const count = async (sql: string) => Number((await database.query(sql)).rows[0]?.n ?? 0);
  const known = new Set(await idsOf("SELECT DISTINCT pinned_id AS id FROM pinned_attempt"));
  const succeeded = await idsOf(
    `SELECT DISTINCT pinned_id AS id FROM pinned_attempt JOIN pinned_execution pinned ON pinned.id = pinned_id
      WHERE pinned.status = 'succeeded'`,
  );
  const unsent = await idsOf(UNSENT);
  const bulks = new Set(await idsOf("SELECT id FROM pinned_bulk"));
  const items = (where: string) => count(`SELECT count(*) AS n FROM pinned_execution WHERE ${where}`);
  const twice = (counts: Map<string, number>) => [...counts.values()].filter((times) => times > 1).length;
  const figures: FigureCheck[] = [
    ["bulks sent", sent.length, "any"],
    ["bulks in the database", bulks.size, "any"],
    ["items", await items("true"), "any"],
  ];
  for (const status of ["succeeded", "failed", "ambiguous", "canceled"])
    figures.push([`  ${status}`, await items(`status = '${status}'`), "any"]);
  figures.push(
    ["requests the sandbox took on, by its own log", [...perItem.values()].reduce((a, b) => a + b, 0), "any"],
    ["answered to a client, not in the database", sent.filter((one) => one.bulkId && !bulks.has(one.bulkId)).length, 0], // biome-ignore format: one figure
    ["bodies the sandbox saw more than once", twice(perBody), 0],
    ["items the sandbox saw more than once", twice(perItem), 0],
    ["requests the sandbox saw of which no attempt was written", [...perItem.keys()].filter((id) => !known.has(id)).length, 0], // biome-ignore format: one figure
    ["succeeded and never seen by the sandbox", succeeded.filter((id) => perItem.get(id) !== 1).length, 0],
    ["not sent by our records, and seen by the sandbox", unsent.filter((id) => perItem.has(id)).length, 0],
  );
  for (const [what, sql] of BROKEN_RECORDS) figures.push([what, await count(sql), 0]);
  return figures;
}

const UNFINISHED = "SELECT count(*) AS n FROM pinned_bulk WHERE status IN ('accepted', 'running')";
/** Items that were never sent, by our records. */
const UNSENT = `SELECT pinned.id FROM pinned_execution pinned WHERE status = 'canceled'
  OR status = 'failed' AND NOT EXISTS (SELECT FROM pinned_attempt a WHERE a.pinned_id = pinned.id AND a.submission <> 'not_attempted')`;

/** Queries that must count nothing in the database once all has ended. */
const BROKEN_RECORDS: [what: string, sql: string][] = [
  ["bulks that have not ended", UNFINISHED],
  [
    "items that have not ended",
    `SELECT count(*) AS n FROM pinned_execution WHERE status IN ('queued', 'running')`,
  ],
  [
    "ended items without exactly one record, or canceled ones with any",
    `SELECT count(*) AS n FROM pinned_execution pinned
        LEFT JOIN (SELECT pinned_id, count(*) AS records FROM pinned_record GROUP BY 1) r ON r.pinned_id = pinned.id
        WHERE coalesce(records, 0) <> CASE WHEN status = 'canceled' THEN 0 ELSE 1 END`,
  ],
  [
    "records that do not hash to what they say",
    "SELECT count(*) AS n FROM pinned_record WHERE encode(sha256(convert_to(body, 'UTF8')), 'hex') <> hash",
  ],
  [
    "records that say another end than their row",
    `SELECT count(*) AS n FROM pinned_record record JOIN pinned_execution pinned ON pinned.id = record.pinned_id
        WHERE record.body::jsonb->>'status' <> pinned.status`,
  ],
  [
    "bulks whose items are not as many as they say",
    `SELECT count(*) AS n FROM pinned_bulk bulk
        WHERE item_count <> (SELECT count(*) FROM pinned_execution WHERE bulk_id = bulk.id)`,
  ],
  [
    "bulks that ended otherwise than their items",
    `SELECT count(*) AS n FROM pinned_bulk bulk JOIN (SELECT bulk_id, count(*) FILTER (WHERE status = 'succeeded') AS good
          FROM pinned_execution GROUP BY 1) x ON x.bulk_id = bulk.id
        WHERE bulk.status <> CASE good WHEN item_count THEN 'succeeded' WHEN 0 THEN 'failed' ELSE 'partial' END`,
  ],
  ["open holds", "SELECT count(*) AS n FROM hold WHERE state = 'open'"],
  [
    "holds that do not fit their item",
    `SELECT count(*) AS n FROM pinned_execution pinned LEFT JOIN hold ON hold.execution_id = pinned.id
        WHERE CASE status WHEN 'ambiguous' THEN hold.state IS DISTINCT FROM 'ambiguous' WHEN 'canceled' THEN hold.state IS NOT NULL
          WHEN 'succeeded' THEN hold.state IS DISTINCT FROM 'settled' ELSE hold.state NOT IN ('settled', 'released') END`,
  ],
  LEDGER_IN_BALANCE,
  [
    "settled holds and charges in the ledger differ by micros",
    `SELECT abs((SELECT coalesce(sum(settled_micros), 0) FROM hold)
        - (SELECT coalesce(-sum(amount_micros), 0) FROM ledger_entry WHERE account LIKE 'external:%')) AS n`,
  ],
];

type Answer = { bulkId: string; nextAction: string };

const seconds = (since: number) => Math.round((Date.now() - since) / 1000);
