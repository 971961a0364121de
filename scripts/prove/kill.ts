import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  ALL_POINTS,
  type FigureCheck,
  LEDGER_IN_BALANCE,
  openInstallation,
  report,
  until,
} from "./installation";

/*
 * Kills web and worker with SIGKILL while jobs run, at five named places and at random moments, and PostgreSQL at random moments.
 * Then the database and the sandbox's own log must show that every job ended, none was lost and none was submitted twice. `npm
 * run prove:kill [-- --kills 40 --postgres-kills 5]`; prints its figures and exits 1 if a promise is broken.
 */

const { values: options } = parseArgs({
  options: { kills: { type: "string", default: "40" }, "postgres-kills": { type: "string", default: "5" } },
});
const KILLS = Number(options.kills);
const POSTGRES_KILLS = Number(options["postgres-kills"]);
const PER_WINDOW = 5;
const CLIENTS = 12;
const LONGEST_MS = 15 * 60_000;
const SETTLE_MS = 180_000;

type Sent = { key: string; operation: "jobs" | "invoke"; answered: boolean };

const installation = await openInstallation(0.03);
const { base, parts } = installation;
const { apiKey } = await installation.tenant("Durability");

const sent: Sent[] = [];
const startedAt = Date.now();
let hasEnded = false;

async function client(number: number) {
  for (let n = 0; !hasEnded; n++) {
    const operation = (number + n) % 3 === 0 ? "invoke" : "jobs";
    const one: Sent = { key: randomUUID(), operation, answered: false };
    sent.push(one);
    const body = JSON.stringify({
      input: {
        messages: [{ role: "user", content: `Client ${number} asks for the ${n}th time.` }],
        maxOutputTokens: 64,
      },
      idempotencyKey: one.key,
      execution: { executionConstraints: { preferredModel: "sandbox-1" } },
    });
    // A lost answer is requested again under the same key, as a client should.
    for (let tried = 0; tried < 200; tried++) {
      try {
        const answer = await fetch(`${base}/v1/capabilities/text.general.fast.v1/${operation}`, {
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
          body,
          signal: AbortSignal.timeout(30_000),
        });
        const said = (await answer.json()) as { detail?: { code?: string } };
        if (answer.status === 200 || said.detail?.code === "TRANSPORT_AMBIGUOUS") {
          one.answered = true;
          break;
        }
        if (answer.status < 500 && answer.status !== 429)
          throw new Error(`unexpected ${answer.status}: ${JSON.stringify(said)}`);
      } catch (cause) {
        if (cause instanceof Error && cause.message.startsWith("unexpected")) throw cause;
      }
      await sleep(100);
    }
    await sleep(20);
  }
}

const load = Array.from({ length: CLIENTS }, (_, number) => client(number));
let nextRandomKill = Date.now() + 3_000;
let nextPostgresKill = Date.now() + 6_000;
for (let pass = 1; ; pass++) {
  await sleep(250);
  if (pass % 60 === 0)
    console.log(
      `${Math.round((Date.now() - startedAt) / 1000)} s: ${sent.length} sent, kills ${parts.map((part) => part.kills)}, ${JSON.stringify(await installation.deaths())}`,
    );
  const counts = await installation.deaths();
  const enough =
    ALL_POINTS.every((point) => (counts[point] ?? 0) >= PER_WINDOW) &&
    parts.every((part) => part.kills >= KILLS) &&
    installation.postgresKills >= POSTGRES_KILLS;
  if (enough || Date.now() - startedAt > LONGEST_MS) break;
  if (Date.now() > nextRandomKill) {
    installation.killOne();
    nextRandomKill = Date.now() + 4_000 + Math.random() * 4_000;
  }
  if (installation.postgresKills < POSTGRES_KILLS && Date.now() > nextPostgresKill) {
    await installation.killPostgres();
    nextPostgresKill = Date.now() + 6_000 + Math.random() * 6_000;
  }
}
installation.calm();
const database = await installation.connect();
hasEnded = true;
await Promise.all(load);

const count = async (sql: string, values: unknown[] = []) =>
  Number((await database.query(sql, values)).rows[0]?.n ?? 0);
const unfinished = "SELECT count(*) AS n FROM job WHERE status NOT IN ('succeeded', 'failed', 'canceled')";
await until(async () => (await count(unfinished)) === 0, SETTLE_MS);

const submissions = await installation.submissions();
const { rows: attempts } = await database.query<{
  id: string;
  status: string;
  error_code: string | null;
  submission: string;
}>(
  "SELECT attempt.id, job.status, job.error_code, attempt.submission FROM attempt JOIN job ON job.id = attempt.job_id",
);
const { rows: keys } = await database.query<{ key: string }>(
  "SELECT coalesce(released_key, idempotency_key) AS key FROM job",
);
const known = new Set(keys.map((row) => row.key));
const figures: FigureCheck[] = [
  ["jobs and invokes sent", sent.length, "any"],
  ["executions in the database", known.size, "any"],
  ["succeeded", await count("SELECT count(*) AS n FROM job WHERE status = 'succeeded'"), "any"],
  [
    "ended as TRANSPORT_AMBIGUOUS",
    await count("SELECT count(*) AS n FROM job WHERE error_code = 'TRANSPORT_AMBIGUOUS'"),
    "any",
  ],
  [
    "never sent, and ended without a charge",
    await count("SELECT count(*) AS n FROM job WHERE released_key IS NOT NULL"),
    "any",
  ],
  [
    "never sent by its row, and submitted all the same",
    (
      await database.query<{ id: string }>(
        "SELECT attempt.id FROM attempt JOIN job ON job.id = job_id WHERE released_key IS NOT NULL",
      )
    ).rows.filter(({ id }) => submissions.has(id)).length,
    0,
  ],
  [
    "answered to the client, not in the database",
    sent.filter((one) => one.answered && !known.has(one.key)).length,
    0,
  ],
  ["not ended", await count(unfinished), 0],
  ["submitted more than once", [...submissions.values()].filter((times) => times > 1).length, 0],
  [
    "succeeded and never submitted",
    attempts.filter((row) => row.status === "succeeded" && !submissions.has(row.id)).length,
    0,
  ],
  [
    "failed for another reason",
    await count(
      "SELECT count(*) AS n FROM job WHERE status = 'failed' AND error_code <> 'TRANSPORT_AMBIGUOUS' AND released_key IS NULL",
    ),
    0,
  ],
  [
    "ambiguous though the answer was stored",
    await count(
      "SELECT count(*) AS n FROM job JOIN attempt ON attempt.job_id = job.id WHERE job.error_code = 'TRANSPORT_AMBIGUOUS' AND answer->>'outcome' = 'succeeded'",
    ),
    0,
  ],
  [
    "executions without exactly one receipt",
    await count(
      "SELECT count(*) AS n FROM (SELECT job.id FROM job LEFT JOIN receipt ON receipt.job_id = job.id GROUP BY job.id HAVING count(receipt.id) <> 1) x",
    ),
    0,
  ],
  [
    "executions with a gap in their events",
    await count(
      "SELECT count(*) AS n FROM (SELECT job_id FROM job_event GROUP BY job_id HAVING max(id) <> count(*)) x",
    ),
    0,
  ],
  [
    "executions without exactly one last event",
    await count(
      "SELECT count(*) AS n FROM (SELECT job_id FROM job_event GROUP BY job_id HAVING count(*) FILTER (WHERE type IN ('job.succeeded', 'job.failed', 'job.canceled')) <> 1) x",
    ),
    0,
  ],
  ["open holds", await count("SELECT count(*) AS n FROM hold WHERE state = 'open'"), 0],
  [
    "holds that do not fit their execution",
    await count(`SELECT count(*) AS n FROM job LEFT JOIN hold ON hold.execution_id = job.id WHERE hold.state IS DISTINCT FROM
    CASE WHEN hold.resolution = 'late_answer' THEN 'settled' WHEN hold.resolution = 'never_sent' OR released_key IS NOT NULL THEN 'released'
      WHEN error_code = 'TRANSPORT_AMBIGUOUS' THEN 'ambiguous' ELSE 'settled' END`),
    0,
  ],
  [LEDGER_IN_BALANCE[0], await count(LEDGER_IN_BALANCE[1]), 0],
];

const counts = await installation.deaths();
console.log(
  `\nkills: ${parts.map((part) => `${part.name} ${part.kills}`).join(", ")}, PostgreSQL ${installation.postgresKills} in ${Math.round((Date.now() - startedAt) / 1000)} s`,
);
for (const point of ALL_POINTS) console.log(`  ${point.padEnd(26)} ${counts[point] ?? 0}`);
const broken = report(figures);
const tooFew =
  ALL_POINTS.filter((point) => (counts[point] ?? 0) < PER_WINDOW).length +
  parts.filter((part) => part.kills < KILLS).length;
if (tooFew > 0) console.log("BROKEN too few kills to say anything");

await database.end();
await installation.close(broken + tooFew > 0);
process.exit(broken + tooFew === 0 ? 0 : 1);
