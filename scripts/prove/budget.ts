import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type FigureCheck, openInstallation, report, until } from "./installation";

/*
 * Sends many more submissions at once than a `prevent` ceiling has room for, of all kinds (text and images, durable, synchronous
 * and read as they are written, pinned alone and in bulks, models that fail, refuse, lose or are busy), with cancels, and with
 * SIGKILL for web and worker at five named places and at random moments, and for PostgreSQL. A trigger that only this
 * installation has records every version of the budget's row, and the holds themselves are summed over and over: the ceiling must
 * never be passed. When all is quiet, the open reservations must be exactly those of ambiguous executions.
 * `npm run prove:budget [-- --submits 500 --ceiling 1000000 --kills 12]`; prints its figures, exits 1 if a promise is broken.
 */

const { values: options } = parseArgs({
  options: {
    submits: { type: "string", default: "500" },
    ceiling: { type: "string", default: "1000000" },
    kills: { type: "string", default: "12" },
  },
});
const SUBMITS = Number(options.submits);
const CEILING = Number(options.ceiling);
const KILLS = Number(options.kills);
const LONGEST_MS = 5 * 60_000;
const SETTLE_MS = 180_000;
const SAMPLE_MS = 25;

const installation = await openInstallation(0.003, { SANDBOX_SLOW_MS: "3000" });
const { base, parts, admin } = installation;
const { organizationId, projectId, apiKey } = await installation.tenant("Budget");
// Far more than the ceilings, so that the budgets refuse and not the wallet.
await admin("wallet", "credit", "--organization", organizationId, "--amount-micros", "1000000000", "--test", "--reason", "prove"); // biome-ignore format: one command
const setBudget = (scope: string, id: string, { ceiling, period, enforcement }: { ceiling: number; period: string; enforcement: string }) =>
  admin("budget", "set", scope, id, "--ceiling-micros", String(ceiling), "--period", period, "--enforcement", enforcement); // biome-ignore format: one command
await setBudget("--project", projectId, { ceiling: CEILING, period: "total", enforcement: "prevent" });
await setBudget("--project", projectId, { ceiling: CEILING * 3, period: "month", enforcement: "warn" });
await setBudget("--organization", organizationId, {
  ceiling: CEILING * 2,
  period: "day",
  enforcement: "prevent",
});

const database = await installation.connect();
await database.query(`
  CREATE TABLE seen_window (budget_id text, committed bigint, ceiling bigint, enforcement text);
  CREATE FUNCTION see_window() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO seen_window SELECT NEW.budget_id, NEW.held_micros + NEW.settled_micros, ceiling_micros, enforcement
    FROM budget WHERE id = NEW.budget_id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER see_window AFTER INSERT OR UPDATE ON budget_window FOR EACH ROW EXECUTE FUNCTION see_window();
  GRANT ALL ON seen_window TO PUBLIC;`);
await database.end();

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
type Kind = {
  path: string;
  body: (number: number) => Record<string, unknown>;
};
const of = (capability: string, operation: "jobs" | "invoke") =>
  `/v1/capabilities/${capability}/${operation}`;
const FREE = of("compute.evaluate.v1", "invoke");
const text =
  (model: string, more: Record<string, unknown> = {}, longest = 8_192): Kind["body"] =>
  (number) => ({
    input: {
      messages: [
        {
          role: "user",
          content: `Number ${number} asks for a story of ${"some ".repeat(number % 50)}length.`,
        },
      ],
      maxOutputTokens: Math.min(longest, 1_024 * (2 + (number % 7))),
    },
    execution: { executionConstraints: { preferredModel: model } },
    ...more,
  });
const image =
  (model: string): Kind["body"] =>
  (number) => ({
    input: { prompt: `Number ${number}`, width: 1024, height: 1024, variantCount: 1 + (number % 2) },
    execution: { executionConstraints: { preferredModel: model } },
  });
const pin = (model: string, number: number) => ({
  pin: { provider: "sandbox", model, api: "responses" },
  sampling: { maxOutputTokens: 1_024 * (2 + (number % 7)) },
});
const pinned =
  (model: string): Kind["body"] =>
  (number) => ({
    ...pin(model, number),
    input: `Number ${number} asks for ${"some ".repeat(number % 50)}words.`,
  });
const bulk =
  (model: string): Kind["body"] =>
  (number) => ({
    ...pin(model, number),
    concurrency: 4,
    items: Array.from({ length: 1 + (number % 9) }, (_, place) => ({
      id: String(place),
      input: `Number ${number}.${place} asks for words.`,
    })),
  });
const KINDS: Kind[] = [
  { path: of(TEXT, "jobs"), body: text("sandbox-2") },
  {
    path: of(TEXT, "jobs"),
    body: text("sandbox-2", { readerDelivery: { boundary: "paragraph" } }),
  },
  { path: of(TEXT, "invoke"), body: text("sandbox-2", {}, 2_048) },
  { path: of(IMAGE, "jobs"), body: image("sandbox-2") },
  { path: of(IMAGE, "jobs"), body: image("sandbox-1") },
  { path: of(TEXT, "jobs"), body: text("sandbox-slow") },
  { path: of(TEXT, "jobs"), body: text("sandbox-refuse") },
  { path: of(TEXT, "jobs"), body: text("sandbox-fail") },
  { path: of(TEXT, "jobs"), body: text("sandbox-lost") },
  { path: of(TEXT, "jobs"), body: text("sandbox-busy") },
  { path: of(IMAGE, "jobs"), body: image("sandbox-refuse") },
  { path: FREE, body: (number) => ({ input: { expression: `${number} * 2` } }) },
  ...["sandbox-2", "sandbox-slow", "sandbox-refuse", "sandbox-fail", "sandbox-lost", "sandbox-busy"].map(
    (model) => ({ path: "/v1/inference/pinned", body: pinned(model) }),
  ),
  ...["sandbox-2", "sandbox-busy", "sandbox-lost"].map((model) => ({
    path: "/v1/inference/pinned/bulk",
    body: bulk(model),
  })),
];

const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
const seen = { admitted: 0, refused: 0, badRefusals: 0, free: 0, freeRefused: 0, canceled: 0, gaveUp: 0 };
const unexpected: string[] = [];
let hasEnded = false;

/** Sends one submission: again under its key if its answer is lost, and after a while if there is no room. */
async function submit(number: number) {
  const kind = KINDS[number % KINDS.length]!;
  const body = JSON.stringify({ ...kind.body(number), idempotencyKey: randomUUID() });
  while (!hasEnded) {
    let answer: {
      status: number;
      said: Record<string, never> & { detail?: { code?: string; details?: object } };
    };
    try {
      const reply = await fetch(base + kind.path, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(60_000),
      });
      answer = { status: reply.status, said: await reply.json() };
    } catch {
      await sleep(100 + Math.random() * 200); // the process died
      continue;
    }
    const { status, said } = answer;
    const isFree = kind.path === FREE;
    if (status === 402 && said.detail?.code === "BudgetExceeded") {
      seen.refused++;
      if (isFree) seen.freeRefused++;
      const { details = {} } = said.detail;
      if (
        ["scope", "enforcement", "estimatedCost", "available", "ceiling"].some((field) => !(field in details))
      )
        seen.badRefusals++;
      await sleep(300 + Math.random() * 1_500);
      continue;
    }
    if (status === 200 || status === 502) {
      // A failed synchronous execution was admitted too.
      seen.admitted++;
      if (isFree) seen.free++;
      if (status === 200 && kind.path.endsWith("/jobs") && number % 5 === 0)
        await cancel((said as { jobId?: string }).jobId);
      return;
    }
    if (status !== 429 && status !== 503 && status !== 500) {
      unexpected.push(`${status} ${JSON.stringify(said).slice(0, 200)}`);
      return;
    }
    await sleep(200);
  }
  seen.gaveUp++;
}

async function cancel(jobId: string | undefined) {
  await sleep(Math.random() * 500);
  const reply = await fetch(`${base}/v1/jobs/${jobId}/cancel`, { method: "POST", headers }).catch(() => null);
  if (reply?.status === 200) seen.canceled++;
}

/** Sum of the project's holds as of one moment: settled, and reserved now. */
const SUM = `SELECT coalesce(sum(settled_micros) FILTER (WHERE state = 'settled'), 0)
  + coalesce(sum(amount_micros) FILTER (WHERE state IN ('open', 'ambiguous')), 0) AS n FROM hold WHERE project_id = $1`;
const sampled = { times: 0, most: 0 };
async function sample() {
  let connection = await installation.connect();
  while (!isQuiet) {
    try {
      const { rows } = await connection.query<{ n: string }>(SUM, [projectId]);
      sampled.times++;
      sampled.most = Math.max(sampled.most, Number(rows[0]?.n));
    } catch {
      await sleep(500); // the database died
      await connection.end().catch(() => undefined);
      connection = await installation.connect().catch(() => connection);
    }
    await sleep(SAMPLE_MS);
  }
  await connection.end();
}

let isQuiet = false;
const sampling = sample();
const startedAt = Date.now();
const load = Array.from({ length: SUBMITS }, (_, number) => submit(number));
let isAllAnswered = false;
void Promise.all(load).then(() => {
  isAllAnswered = true;
});
let nextPostgresKill = Date.now() + 10_000;
for (let pass = 1; ; pass++) {
  await sleep(3_000 + Math.random() * 2_000);
  const killed = parts.reduce((sum, part) => sum + part.kills, 0);
  if (pass % 5 === 0)
    console.log(
      `${Math.round((Date.now() - startedAt) / 1000)} s: ${JSON.stringify(seen)}, ${killed} killed`,
    );
  const isEnough = killed >= KILLS && installation.postgresKills >= 2;
  if (isAllAnswered || isEnough || Date.now() - startedAt > LONGEST_MS) break;
  installation.killOne();
  if (Date.now() > nextPostgresKill && installation.postgresKills < 2) {
    await installation.killPostgres();
    nextPostgresKill = Date.now() + 10_000;
  }
}
installation.calm();
// Without deaths, submissions that wait for room try again, as holds are settled for less than was held, until nothing more fits.
for (let before = -1, end = Date.now() + LONGEST_MS; Date.now() < end && !isAllAnswered; ) {
  await sleep(10_000);
  if (seen.admitted === before) break;
  before = seen.admitted;
}
hasEnded = true;
await Promise.all(load);

const quiet = await installation.connect();
const count = async (sql: string, values: unknown[] = []) =>
  Number((await quiet.query(sql, values)).rows[0]?.n ?? 0);
const unfinished =
  "SELECT count(*) AS n FROM execution WHERE status NOT IN ('succeeded', 'failed', 'ambiguous', 'canceled')";
await until(async () => (await count(unfinished)) === 0, SETTLE_MS);
isQuiet = true;
await sampling;

const windowSum = (column: string) =>
  count(
    `SELECT coalesce(sum(${column}), 0) AS n FROM budget_window JOIN budget ON budget.id = budget_id
     WHERE scope = 'project:' || $1 AND period = 'total' AND is_test`,
    [projectId],
  );
const heldWhere = (what: string) =>
  count(`SELECT coalesce(sum(amount_micros), 0) AS n FROM hold WHERE ${what}`);
/** Pinned executions of the sandbox count in budgets, and take nothing from the wallet. */
const OF_WALLET = "state IN ('open', 'ambiguous') AND funding IS NOT NULL";
const figures: FigureCheck[] = [
  ["submissions", SUBMITS, "any"],
  ["admitted", seen.admitted, "any"],
  ["refused with 402 (each may ask again)", seen.refused, "any"],
  ["still without room at the end", seen.gaveUp, "any"],
  ["cancels accepted", seen.canceled, "any"],
  ["succeeded", await count("SELECT count(*) AS n FROM execution WHERE status = 'succeeded'"), "any"],
  [
    "failed",
    await count("SELECT count(*) AS n FROM execution WHERE status IN ('failed', 'ambiguous')"),
    "any",
  ],
  ["canceled", await count("SELECT count(*) AS n FROM execution WHERE status = 'canceled'"), "any"],
  ["pinned, of all these", await count("SELECT count(*) AS n FROM pinned_execution"), "any"],
  ["ceiling of the project, micros", CEILING, "any"],
  ["most ever settled and held, by the budget's row", await count("SELECT max(committed) AS n FROM seen_window s JOIN budget b ON b.id = s.budget_id WHERE b.scope = 'project:' || $1 AND b.period = 'total'", [projectId]), "any"], // biome-ignore format: one figure
  ["versions of budget rows looked at", await count("SELECT count(*) AS n FROM seen_window"), "any"],
  ["most ever settled and held, summed from the holds", sampled.most, "any"],
  ["times the holds were summed", sampled.times, "any"],
  ["versions of a budget row above a ceiling that prevents", await count("SELECT count(*) AS n FROM seen_window WHERE enforcement = 'prevent' AND committed > ceiling"), 0], // biome-ignore format: one figure
  ["sums of the holds above the ceiling", sampled.most > CEILING ? 1 : 0, 0],
  ["ceiling never nearly reached: nothing was shown", sampled.most < CEILING * 0.9 ? 1 : 0, 0],
  ["answers nobody expected", unexpected.length, 0],
  ["refusals without their five figures", seen.badRefusals, 0],
  ["free executions refused", seen.freeRefused, 0],
  ["not ended", await count(unfinished), 0],
  ["open holds", await count("SELECT count(*) AS n FROM hold WHERE state = 'open'"), 0],
  ["ambiguous holds", await count("SELECT count(*) AS n FROM hold WHERE state = 'ambiguous'"), "any"],
  ["ambiguous executions whose hold is not, or the other way round", await count("SELECT count(*) AS n FROM hold JOIN job ON job.id = execution_id WHERE (hold.state = 'ambiguous' OR hold.resolution IN ('late_answer', 'never_sent')) <> EXISTS (SELECT FROM attempt WHERE attempt.job_id = job.id AND attempt.submission = 'ambiguous' AND attempt.ended_at IS NOT NULL)"), 0], // biome-ignore format: one figure
  ["ambiguous pinned executions whose hold is not, or the other way round", await count("SELECT count(*) AS n FROM hold JOIN pinned_execution pin ON pin.id = execution_id WHERE (hold.state = 'ambiguous' OR hold.resolution IS NOT DISTINCT FROM 'never_sent') <> (pin.status = 'ambiguous')"), 0], // biome-ignore format: one figure
  ["paid jobs without exactly one hold", await count("SELECT count(*) AS n FROM job LEFT JOIN hold ON execution_id = job.id WHERE (maximum_micros > 0) <> (hold.id IS NOT NULL)"), 0], // biome-ignore format: one figure
  // An item of a bulk holds from its turn on, so an item that was sent has its hold.
  ["pinned executions sent without a hold", await count("SELECT count(*) AS n FROM pinned_execution pin WHERE maximum_micros > 0 AND EXISTS (SELECT FROM pinned_attempt WHERE pinned_id = pin.id) AND NOT EXISTS (SELECT FROM hold WHERE execution_id = pin.id)"), 0], // biome-ignore format: one figure
  ["micros the budget's row holds beside the ambiguous", (await windowSum("held_micros")) - (await heldWhere("state = 'ambiguous'")), 0], // biome-ignore format: one figure
  ["micros the budget's row settled beside the holds", (await windowSum("settled_micros")) - (await count("SELECT coalesce(sum(settled_micros), 0) AS n FROM hold WHERE state = 'settled'")), 0], // biome-ignore format: one figure
  ["micros the wallet holds beside the holds", (await count("SELECT sum(held_micros + allowance_held_micros) AS n FROM wallet WHERE is_test")) - (await heldWhere(OF_WALLET)), 0], // biome-ignore format: one figure
  ["micros the wallet differs from its ledger", await count("SELECT (SELECT sum(balance_micros) FROM wallet) - (SELECT sum(amount_micros) FROM ledger_entry WHERE account LIKE 'wallet:%') AS n"), 0], // biome-ignore format: one figure
  ["micros charged otherwise than settled", await count("SELECT (SELECT coalesce(sum(settled_micros), 0) FROM hold) + (SELECT coalesce(sum(amount_micros), 0) FROM ledger_entry WHERE kind IN ('charge', 'overrun')) AS n"), 0], // biome-ignore format: one figure
  ["transactions out of balance", await count("SELECT count(*) AS n FROM (SELECT FROM ledger_entry GROUP BY transaction_id, currency HAVING sum(amount_micros) <> 0) x"), 0], // biome-ignore format: one figure
  ["micros the whole ledger is out of balance", await count("SELECT coalesce(sum(amount_micros), 0) AS n FROM ledger_entry"), 0], // biome-ignore format: one figure
];

console.log(
  `\nkilled: ${parts.map((part) => `${part.name} ${part.kills}`).join(", ")}, PostgreSQL ${installation.postgresKills}; ${Math.round((Date.now() - startedAt) / 1000)} s; ${JSON.stringify(await installation.deaths())}`,
);
const broken = report(figures);
for (const line of unexpected.slice(0, 5)) console.log(`       ${line}`);
const tooFew = parts.reduce((sum, part) => sum + part.kills, 0) < KILLS;
if (tooFew) console.log("BROKEN too few kills to say anything");
await quiet.end();
await installation.close(broken > 0 || tooFew);
process.exit(broken > 0 || tooFew ? 1 : 0);
