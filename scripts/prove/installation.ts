import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { migrateEngine } from "@/inngest/embedded/migrate";
import type { SandboxSubmission } from "@/server/sandbox/submissions";
import { build, isBuilt } from "../launch/build";
import { endWithChildren } from "../launch/ending";
import { startPostgres } from "../launch/postgres";
import { RUNTIME_ENV, runtimeFlags } from "../launch/process-flags";
import { freePort } from "../launch/system";
import { applyMigrations } from "../migrate/migrations";

/*
 * An installation to be killed: its own PostgreSQL, sandbox, web and worker, in a directory of its own. Commits wait for the
 * disk, as in use, so whatever a killed server had not written is gone.
 */

/** The places where a process may crash, by process. */
export const POINTS = {
  web: ["after-admission", "after-submission-begun", "after-answer", "before-receipt"],
  worker: ["after-claim", "after-submission-begun", "after-answer", "before-receipt"],
};
/** The places that a bulk passes. */
export const BULK_POINTS: Points = {
  web: ["after-admission"],
  worker: ["after-claim", "after-submission-begun", "after-answer", "before-receipt"],
};
type Points = Record<"web" | "worker", string[]>;
export const ALL_POINTS = [...new Set([...POINTS.web, ...POINTS.worker])];

type Part = { name: "web" | "worker"; kills: number; child: ChildProcess; stop(): Promise<void> };
export type FigureCheck = [what: string, value: number, wanted: number | "any"];

/**
 * Starts everything. `chance` is the probability that a process dies at each of its places; `settings` override the usual ones.
 */
export async function openInstallation(
  chance: number | Record<"web" | "worker", number>,
  settings: Record<string, string> = {},
  points: Points = POINTS,
) {
  endWithChildren();
  const directory = await makeDirectory();
  if (!isBuilt()) await build();
  const startDatabase = () => startPostgres({ dataDir: directory, logFile: join(directory, "postgres.log") });
  let postgres = await startDatabase();
  const env = { ...(await settingsOf(directory, postgres.url)), ...settings };
  await mkdir(join(directory, "logs"), { recursive: true });
  await applyMigrations(postgres.url);
  await migrateEngine(postgres.url);
  const processes = processesIn(directory, env);
  const failpointsOf = (name: "web" | "worker") => {
    const likely = typeof chance === "number" ? chance : chance[name];
    return points[name].map((point) => `${point}:${likely}`).join(",");
  };
  const sandbox = await processes.start("sandbox");
  const parts = [
    await processes.keep("web", failpointsOf("web")),
    await processes.keep("worker", failpointsOf("worker")),
  ];
  const base = `http://127.0.0.1:${env.PORT}`;

  return {
    directory,
    base,
    /** The settings of the processes. */
    env,
    parts,
    postgresKills: 0,
    databaseUrl: () => postgres.url,
    sandboxPid: () => sandbox.pid ?? 0,
    ...adminOf(env),
    ...logsOf(directory),

    /** Waits until the web process can work. */
    ready: () =>
      until(
        () =>
          fetch(`${base}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        120_000,
      ),

    /** A connection that sees every project. */
    async connect(): Promise<pg.Client> {
      const database = new pg.Client({ connectionString: postgres.url, options: "-c capstan.project_id=*" });
      database.on("error", () => undefined); // after a kill of the server the next statement reports it
      await database.connect();
      return database;
    },

    /** Kills the database server with SIGKILL, and starts it again. */
    async killPostgres() {
      process.kill(postgres.pid, "SIGKILL");
      this.postgresKills++;
      await postgres.exited;
      postgres = await startDatabase();
    },

    /** Kills one of the processes, chosen at random, with SIGKILL. */
    killOne: () => parts[Math.random() < 0.5 ? 0 : 1]?.child.kill("SIGKILL"),

    /** Applies these settings from now on, and restarts the processes one by one; each ends its work before it exits. */
    async restart(changed: Record<string, string>) {
      Object.assign(env, changed);
      for (const part of parts) {
        const last = part.child;
        last.kill("SIGTERM");
        while (part.child === last || part.child.pid === undefined) await sleep(50);
      }
    },

    /** Kills the processes once more; from then on they start without failpoints. */
    calm() {
      processes.calm();
      for (const part of parts) part.child.kill("SIGKILL"); // the next start has no failpoints
    },

    /** Stops everything, and removes the directory unless something was broken. */
    async close(isBroken: boolean) {
      for (const part of parts) await part.stop();
      sandbox.kill("SIGTERM");
      await postgres.stop();
      if (isBroken) console.log(`left for a look: ${directory}`);
      else await rm(directory, { recursive: true, force: true });
    },
  };
}
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-prove-"));
  await chmod(directory, 0o711); // the database server may run as another user
  return directory;
}

async function settingsOf(directory: string, databaseUrl: string): Promise<NodeJS.ProcessEnv> {
  const sandboxPort = await freePort();
  return {
    ...process.env,
    NODE_ENV: "production",
    CAPSTAN_ENV: "development",
    CAPSTAN_DATA_DIR: directory,
    DATABASE_URL: databaseUrl,
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
    NEXTAUTH_SECRET: randomUUID(),
    CAPSTAN_VAULT_KEY: randomBytes(32).toString("base64"),
    HOST: "127.0.0.1",
    PORT: String(await freePort()),
    LOG_LEVEL: "warn",
    RATE_LIMIT_KEY_PER_MINUTE: "1000000",
    ...RUNTIME_ENV,
  };
}

/** Starts processes of the build with these settings, which log to the directory. */
function processesIn(directory: string, env: NodeJS.ProcessEnv) {
  let isCalm = false;

  async function start(name: string, extra: Record<string, string> = {}): Promise<ChildProcess> {
    const log = await open(join(directory, "logs", `${name}.log`), "a");
    const child = spawn(process.execPath, [...runtimeFlags(name), `dist/${name}.mjs`], {
      env: { ...env, ...extra },
      stdio: ["ignore", log.fd, log.fd],
    });
    child.once("exit", () => void log.close());
    return child;
  }

  /** A process that is restarted whenever it dies (at once after SIGKILL); `kills` counts its deaths by SIGKILL. */
  async function keep(name: "web" | "worker", failpoints: string): Promise<Part> {
    const startPart = () => start(name, isCalm ? {} : { CAPSTAN_FAILPOINTS: failpoints });
    let isStopping = false;
    const part: Part = {
      name,
      kills: 0,
      child: await startPart(),
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
        if (signal !== "SIGKILL") await sleep(1_000); // the process ended on its own; its log says why
        part.child = await startPart();
        watch();
      });
    watch();
    return part;
  }

  return {
    start,
    keep,
    /** Later starts have no failpoints. */
    calm() {
      isCalm = true;
    },
  };
}

function adminOf(env: NodeJS.ProcessEnv) {
  const admin = async <T = Record<string, string>>(...words: string[]): Promise<T> => {
    const run = promisify(execFile);
    const { stdout } = await run("npx", ["tsx", "scripts/admin.ts", ...words, "--json"], { env });
    return JSON.parse(stdout);
  };
  return {
    /** Runs the admin command against the installation. */
    admin,

    /** Makes an organization with a project and its key. */
    async tenant(name: string) {
      const { organizationId = "" } = await admin("organization", "create", "--name", name);
      const of = ["--organization", organizationId];
      const { projectId = "" } = await admin("project", "create", "--name", name, ...of);
      const { apiKey = "" } = await admin("key", "create", "--project", projectId, "--name", "prove");
      return { organizationId, projectId, apiKey };
    },
  };
}

function logsOf(directory: string) {
  const linesOf = async (...file: string[]) => {
    const text = await readFile(join(directory, ...file), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean);
  };
  /** The requests that the sandbox accepted, line by line. */
  const sandboxLog = async (): Promise<SandboxSubmission[]> =>
    (await linesOf("sandbox", "submissions.ndjson")).map((line) => JSON.parse(line)); // written by our sandbox
  return {
    sandboxLog,

    /** Everything that the processes have logged so far. */
    logs: async (): Promise<string> =>
      [...(await linesOf("logs", "web.log")), ...(await linesOf("logs", "worker.log"))].join("\n"),

    /** Number of deaths at each place. */
    deaths: async (): Promise<Record<string, number>> =>
      timesOf((await linesOf("failpoints.log")).map((line) => line.split(" ")[1] ?? "")),

    /** Number of times that each attempt, or each body by its hash, reached the sandbox, by the sandbox's own log. */
    submissions: async (by: "attemptId" | "sha256" = "attemptId"): Promise<Map<string, number>> =>
      new Map(Object.entries(timesOf((await sandboxLog()).map((line) => line[by])))),
  };
}

function timesOf(names: string[]): Record<string, number> {
  const times: Record<string, number> = {};
  for (const name of names) times[name] = (times[name] ?? 0) + 1;
  return times;
}

/** A query that must return 0 whenever no work is in progress. */
export const LEDGER_IN_BALANCE: [what: string, sql: string] = [
  "micros the ledger is out of balance",
  "SELECT coalesce(sum(abs(total)), 0) AS n FROM (SELECT sum(amount_micros) AS total FROM ledger_entry GROUP BY transaction_id) x",
];

/** Prints the figures, with broken promises marked; returns the number of broken ones. */
export function report(figures: FigureCheck[]): number {
  let broken = 0;
  for (const [what, value, wanted] of figures) {
    const isBroken = wanted !== "any" && value !== wanted;
    if (isBroken) broken++;
    console.log(`${isBroken ? "BROKEN" : "      "} ${what.padEnd(58)} ${value}`);
  }
  return broken;
}

/** Waits until `isSo` returns true, but not much longer than `longestMs`. */
export async function until(isSo: () => Promise<boolean>, longestMs: number) {
  const end = Date.now() + longestMs;
  while (!(await isSo()) && Date.now() < end) await sleep(500);
}
