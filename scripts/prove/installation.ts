import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { migrateEngine } from "@/inngest/embedded/migrate";
import type { Submission } from "@/server/sandbox/submissions";
import { build, isBuilt } from "../launch/build";
import { startPostgres } from "../launch/postgres";
import { RUNTIME_ENV, runtimeFlags } from "../launch/process-flags";
import { freePort } from "../launch/system";
import { applyMigrations } from "../migrate/migrations";

/*
 * An installation to be killed: its own PostgreSQL (with the disk waited for, as in use: what a killed server had not
 * written is gone), sandbox, web and worker, in a directory of its own.
 */

/** The places where a process may crash, by process. */
export const POINTS = {
  web: ["after-admission", "after-submission-begun", "after-answer", "before-receipt"],
  worker: ["after-claim", "after-submission-begun", "after-answer", "before-receipt"],
};
/** Those that a bulk passes. */
export const BULK_POINTS: Points = {
  web: ["after-admission"],
  worker: ["after-claim", "after-submission-begun", "after-answer", "before-receipt"],
};
type Points = Record<"web" | "worker", string[]>;
export const ALL_POINTS = [...new Set([...POINTS.web, ...POINTS.worker])];

export type Part = { name: "web" | "worker"; kills: number; child: ChildProcess; stop(): Promise<void> };
export type Figure = [what: string, value: number, wanted: number | "any"];

/** Starts everything; `chance` is how likely a process dies at each of its places, `settings` come on top. */
export async function openInstallation(
  chance: number | Record<"web" | "worker", number>,
  settings: Record<string, string> = {},
  points: Points = POINTS,
) {
  const directory = await mkdtemp(join(tmpdir(), "capstan-prove-"));
  await chmod(directory, 0o711);
  const sandboxPort = await freePort();
  const webPort = await freePort();
  if (!isBuilt()) await build();
  const startDatabase = () => startPostgres({ dataDir: directory, logFile: join(directory, "postgres.log") });
  let postgres = await startDatabase();
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
    ...RUNTIME_ENV,
    ...settings,
  };
  await mkdir(join(directory, "logs"), { recursive: true });
  await applyMigrations(postgres.url);
  await migrateEngine(postgres.url);

  /** What is up now; none outlives this process, however it ends. */
  const running = new Set<ChildProcess>();
  process.once("exit", () => {
    for (const child of running) child.kill("SIGKILL");
  });

  async function start(name: string, extra: Record<string, string> = {}): Promise<ChildProcess> {
    const log = await open(join(directory, "logs", `${name}.log`), "a");
    const child = spawn(process.execPath, [...runtimeFlags(name), `dist/${name}.mjs`], {
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

  let isCalm = false;
  /** A process that is started again at once whenever it dies; counts its deaths by SIGKILL. */
  async function keep(name: "web" | "worker"): Promise<Part> {
    const likely = typeof chance === "number" ? chance : chance[name];
    const failpoints = { CAPSTAN_FAILPOINTS: points[name].map((point) => `${point}:${likely}`).join(",") };
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
        part.child = await start(name, isCalm ? undefined : failpoints);
        watch();
      });
    watch();
    return part;
  }

  const sandbox = await start("sandbox");
  const parts = [await keep("web"), await keep("worker")];

  const base = `http://127.0.0.1:${webPort}`;
  const admin = async <T = Record<string, string>>(...words: string[]): Promise<T> => {
    const { stdout } = await promisify(execFile)("npx", ["tsx", "scripts/admin.ts", ...words, "--json"], {
      env,
    });
    return JSON.parse(stdout);
  };

  return {
    directory,
    base,
    /** The settings of its processes. */
    env,
    parts,
    postgresKills: 0,
    databaseUrl: () => postgres.url,

    /** The admin command against it. */
    admin,

    /** An organization with a project and its key. */
    async tenant(name: string) {
      const { organizationId = "" } = await admin("organization", "create", "--name", name);
      const of = ["--organization", organizationId];
      const { projectId = "" } = await admin("project", "create", "--name", name, ...of);
      const { apiKey = "" } = await admin("key", "create", "--project", projectId, "--name", "prove");
      return { organizationId, projectId, apiKey };
    },

    /** Waits until its web process can work. */
    ready: () =>
      until(
        () =>
          fetch(`${base}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        120_000,
      ),

    /** A connection of the system's own, that sees every project. */
    async connect(): Promise<pg.Client> {
      const database = new pg.Client({ connectionString: postgres.url, options: "-c capstan.project_id=*" });
      database.on("error", () => undefined); // its server was killed: the next statement says so
      await database.connect();
      return database;
    },

    /** SIGKILL for one of its processes, taken by chance. */
    killOne() {
      parts[Math.random() < 0.5 ? 0 : 1]?.child.kill("SIGKILL");
    },

    /** SIGKILL for the database server, and its recovery. */
    async killPostgres() {
      process.kill(postgres.pid, "SIGKILL");
      this.postgresKills++;
      await postgres.exited;
      postgres = await startDatabase();
    },

    /** Starts its processes again, one after the other and each with its work ended, with these settings from now on. */
    async restart(changed: Record<string, string>) {
      Object.assign(env, changed);
      for (const part of parts) {
        const last = part.child;
        last.kill("SIGTERM");
        while (part.child === last || part.child.pid === undefined) await sleep(50);
      }
    },

    /** What its processes logged so far. */
    async logs(): Promise<string> {
      const texts = ["web", "worker"].map((name) => readFile(join(directory, "logs", `${name}.log`), "utf8"));
      return (await Promise.all(texts)).join("\n");
    },

    /** From here on nothing dies any more. */
    calm() {
      isCalm = true;
      for (const part of parts) part.child.kill("SIGKILL"); // the next start has no failpoints
    },

    /** How often a process died at each place. */
    async deaths(): Promise<Record<string, number>> {
      const text = await readFile(join(directory, "failpoints.log"), "utf8").catch(() => "");
      const counts: Record<string, number> = {};
      for (const line of text.split("\n").filter(Boolean)) {
        const name = line.split(" ")[1] ?? "";
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    },

    /** How often each attempt, or each body by its hash, reached the sandbox, by its own log. */
    async submissions(by: "attemptId" | "sha256" = "attemptId"): Promise<Map<string, number>> {
      const counts = new Map<string, number>();
      for (const line of await this.sandboxLog()) counts.set(line[by], (counts.get(line[by]) ?? 0) + 1);
      return counts;
    },

    /** What the sandbox took on, line by line. */
    async sandboxLog(): Promise<Submission[]> {
      const text = await readFile(join(directory, "sandbox", "submissions.ndjson"), "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)); // written by our sandbox
    },

    sandboxPid: () => sandbox.pid ?? 0,

    /** Ends everything; the directory stays for a look where something was broken. */
    async close(isBroken: boolean) {
      for (const part of parts) await part.stop();
      sandbox.kill("SIGTERM");
      await postgres.stop();
      if (isBroken) console.log(`left for a look: ${directory}`);
      else await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Prints the figures, broken promises marked; answers how many are broken. */
export function report(figures: Figure[]): number {
  let broken = 0;
  for (const [what, value, wanted] of figures) {
    const isBroken = wanted !== "any" && value !== wanted;
    if (isBroken) broken++;
    console.log(`${isBroken ? "BROKEN" : "      "} ${what.padEnd(58)} ${value}`);
  }
  return broken;
}

/** Waits for this to be so, for at most `longestMs`. */
export async function until(isSo: () => Promise<boolean>, longestMs: number) {
  const end = Date.now() + longestMs;
  while (!(await isSo()) && Date.now() < end) await sleep(500);
}
