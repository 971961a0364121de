import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import pg from "pg";
import { migrateEngine } from "@/inngest/embedded/migrate";
import { build, isBuilt } from "./launch/build";
import { startPostgres } from "./launch/postgres";
import { freePort } from "./launch/system";
import { applyMigrations } from "./migrations";

/*
 * Kills web and worker with SIGKILL while jobs run, at five named places and at random moments, and PostgreSQL at random
 * moments, and then asks the database and the sandbox's own log: did every job end, was none lost, was none submitted
 * twice? `npm run prove:kill [-- --kills 40 --postgres-kills 5]`; prints its figures and exits 1 when a promise is broken.
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
const WEB_POINTS = ["after-admission", "after-submission-begun", "after-answer", "before-receipt"];
const WORKER_POINTS = ["after-claim", "after-submission-begun", "after-answer", "before-receipt"];
const CHANCE = "0.03";

type Part = { name: "web" | "worker"; kills: number; child: ChildProcess; stop(): Promise<void> };
type Sent = { key: string; operation: "jobs" | "invoke"; answered: boolean };

const directory = await mkdtemp(join(tmpdir(), "capstan-prove-"));
await chmod(directory, 0o711);
const sandboxPort = await freePort();
const webPort = await freePort();
const base = `http://127.0.0.1:${webPort}`;
if (!isBuilt()) await build();
// With the disk waited for, as in use: what a killed server had not written is gone.
const startDatabase = () => startPostgres({ dataDir: directory, logFile: join(directory, "postgres.log") });
let postgres = await startDatabase();
let postgresKills = 0;
const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_ENV: "production",
  CAPSTAN_ENV: "development",
  CAPSTAN_DATA_DIR: directory,
  DATABASE_URL: postgres.url,
  SANDBOX_PORT: String(sandboxPort),
  SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
  NEXTAUTH_SECRET: randomUUID(),
  CAPSTAN_VAULT_KEY: randomBytes(32).toString("base64"),
  HOST: "127.0.0.1",
  PORT: String(webPort),
  LOG_LEVEL: "warn",
  RATE_LIMIT_KEY_PER_MINUTE: "1000000",
};
await mkdir(join(directory, "logs"), { recursive: true });
await applyMigrations(postgres.url);
await migrateEngine(postgres.url);

/** What is up now; none outlives this script, however it ends. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

async function start(name: string, extra: Record<string, string> = {}): Promise<ChildProcess> {
  const log = await open(join(directory, "logs", `${name}.log`), "a");
  const child = spawn(process.execPath, [`dist/${name}.mjs`], {
    env: { ...env, ...extra },
    stdio: ["ignore", log.fd, log.fd],
  });
  running.add(child);
  child.once("exit", () => {
    running.delete(child);
    void log.close();
  });
  return child;
}

/** A process that is started again at once whenever it dies; counts its deaths by SIGKILL. */
async function keep(name: "web" | "worker", points: string[]): Promise<Part> {
  const failpoints = { CAPSTAN_FAILPOINTS: points.map((point) => `${point}:${CHANCE}`).join(",") };
  let isStopping = false;
  const part: Part = {
    name,
    kills: 0,
    child: await start(name, failpoints),
    async stop() {
      isStopping = true;
      const last = part.child;
      if (last.exitCode !== null || last.signalCode !== null) return;
      const ended = new Promise((resolve) => last.once("exit", resolve));
      last.kill("SIGTERM");
      await ended;
    },
  };
  const watch = () =>
    part.child.once("exit", async (_code, signal) => {
      if (signal === "SIGKILL") part.kills++;
      if (isStopping) return;
      if (signal !== "SIGKILL") await sleep(1_000); // it ended by itself: its log says why
      part.child = await start(name, calm ? undefined : failpoints);
      watch();
    });
  watch();
  return part;
}

let calm = false;
const sandbox = await start("sandbox");
const parts = [await keep("web", WEB_POINTS), await keep("worker", WORKER_POINTS)];
async function admin(...words: string[]): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)("npx", ["tsx", "scripts/admin.ts", ...words, "--json"], {
    env,
  });
  return JSON.parse(stdout);
}
const organization = await admin("organization", "create", "--name", "Durability");
const project = await admin(
  "project",
  "create",
  "--name",
  "Durability",
  "--organization",
  organization.organizationId ?? "",
);
const { apiKey } = await admin("key", "create", "--project", project.projectId ?? "", "--name", "prove");

const sent: Sent[] = [];
const startedAt = Date.now();
let isOver = false;

async function client(number: number) {
  for (let n = 0; !isOver; n++) {
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
    // A lost answer is asked for again under the same key, as a client should.
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

async function windows(): Promise<Record<string, number>> {
  const lines = (await readFile(join(directory, "failpoints.log"), "utf8").catch(() => ""))
    .split("\n")
    .filter(Boolean);
  const counts: Record<string, number> = {};
  for (const line of lines) {
    const name = line.split(" ")[1] ?? "";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const allPoints = [...new Set([...WEB_POINTS, ...WORKER_POINTS])];
const load = Array.from({ length: CLIENTS }, (_, number) => client(number));
let nextRandomKill = Date.now() + 3_000;
let nextPostgresKill = Date.now() + 6_000;
for (let pass = 1; ; pass++) {
  await sleep(250);
  if (pass % 60 === 0)
    console.log(
      `${Math.round((Date.now() - startedAt) / 1000)} s: ${sent.length} sent, kills ${parts.map((part) => part.kills)}, ${JSON.stringify(await windows())}`,
    );
  const counts = await windows();
  const enough =
    allPoints.every((point) => (counts[point] ?? 0) >= PER_WINDOW) &&
    parts.every((part) => part.kills >= KILLS) &&
    postgresKills >= POSTGRES_KILLS;
  if (enough || Date.now() - startedAt > LONGEST_MS) break;
  if (Date.now() > nextRandomKill) {
    parts[Math.random() < 0.5 ? 0 : 1]?.child.kill("SIGKILL");
    nextRandomKill = Date.now() + 4_000 + Math.random() * 4_000;
  }
  if (postgresKills < POSTGRES_KILLS && Date.now() > nextPostgresKill) {
    process.kill(postgres.pid, "SIGKILL");
    postgresKills++;
    await postgres.exited;
    postgres = await startDatabase();
    nextPostgresKill = Date.now() + 6_000 + Math.random() * 6_000;
  }
}
calm = true;
const database = new pg.Client({ connectionString: postgres.url, options: "-c capstan.project_id=*" });
await database.connect();
for (const part of parts) part.child.kill("SIGKILL"); // the next start has no failpoints
isOver = true;
await Promise.all(load);

const count = async (sql: string, values: unknown[] = []) =>
  Number((await database.query(sql, values)).rows[0]?.n ?? 0);
const unfinished = "SELECT count(*) AS n FROM job WHERE status NOT IN ('succeeded', 'failed', 'canceled')";
const settleEnd = Date.now() + SETTLE_MS;
while ((await count(unfinished)) > 0 && Date.now() < settleEnd) await sleep(500);

const submissions = new Map<string, number>();
for (const line of (await readFile(join(directory, "sandbox", "submissions.ndjson"), "utf8"))
  .split("\n")
  .filter(Boolean)) {
  const { attemptId } = JSON.parse(line) as { attemptId: string };
  submissions.set(attemptId, (submissions.get(attemptId) ?? 0) + 1);
}
const { rows: attempts } = await database.query<{
  id: string;
  status: string;
  error_code: string | null;
  submission: string;
}>(
  "SELECT attempt.id, job.status, job.error_code, attempt.submission FROM attempt JOIN job ON job.id = attempt.job_id",
);
const { rows: keys } = await database.query<{ idempotency_key: string }>("SELECT idempotency_key FROM job");
const known = new Set(keys.map((row) => row.idempotency_key));
const figures: [string, number, number | "any"][] = [
  ["jobs and invokes sent", sent.length, "any"],
  ["executions in the database", known.size, "any"],
  ["succeeded", await count("SELECT count(*) AS n FROM job WHERE status = 'succeeded'"), "any"],
  [
    "ended as TRANSPORT_AMBIGUOUS",
    await count("SELECT count(*) AS n FROM job WHERE error_code = 'TRANSPORT_AMBIGUOUS'"),
    "any",
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
      "SELECT count(*) AS n FROM job WHERE status = 'failed' AND error_code <> 'TRANSPORT_AMBIGUOUS'",
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
    CASE WHEN error_code = 'TRANSPORT_AMBIGUOUS' THEN 'ambiguous' ELSE 'settled' END`),
    0,
  ],
  [
    "micros the ledger is out of balance",
    await count(
      "SELECT coalesce(sum(abs(total)), 0) AS n FROM (SELECT sum(amount_micros) AS total FROM ledger_entry GROUP BY transaction_id) x",
    ),
    0,
  ],
];

const counts = await windows();
console.log(
  `\nkills: ${parts.map((part) => `${part.name} ${part.kills}`).join(", ")}, PostgreSQL ${postgresKills} in ${Math.round((Date.now() - startedAt) / 1000)} s`,
);
for (const point of allPoints) console.log(`  ${point.padEnd(26)} ${counts[point] ?? 0}`);
let broken = 0;
for (const [what, value, wanted] of figures) {
  const isBroken = wanted !== "any" && value !== wanted;
  if (isBroken) broken++;
  console.log(`${isBroken ? "BROKEN" : "      "} ${what.padEnd(46)} ${value}`);
}
const tooFew =
  allPoints.filter((point) => (counts[point] ?? 0) < PER_WINDOW).length +
  parts.filter((part) => part.kills < KILLS).length;
if (tooFew > 0) console.log("BROKEN too few kills to say anything");

for (const part of parts) await part.stop();
sandbox.kill("SIGTERM");
await database.end();
await postgres.stop();
if (broken + tooFew === 0) await rm(directory, { recursive: true, force: true });
else console.log(`left for a look: ${directory}`);
process.exit(broken + tooFew === 0 ? 0 : 1);
