import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { migrateEngine } from "@/inngest/embedded/migrate";
import type { Env } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { readSecrets } from "@/server/platform/settings/secrets";
import { embeddedDatabaseFault } from "@/server/platform/settings/setting-rules";
import { applyMigrations } from "../migrate/migrations";
import { hasProgram, programSource } from "./build";
import { lastLines, type Supervised, supervise } from "./child";
import { findFile, writeWhole } from "./files";
import { type Postgres, startPostgres } from "./postgres";
import { processEnv } from "./process-env";
import { nodeArgs, programArgs } from "./process-flags";
import type { Report } from "./report";
import { type Runtime, removeRuntime, writeRuntime } from "./runtime";
import { canListen, freePort } from "./system";

/** Time in which a process may finish its work; longer work is recovered when its lease expires. */
const GRACE_MS = 30_000;
const READY_MS = 90_000;

export type Instance = {
  /** The address on this machine. */
  localUrl: string;
  /** The address for people and agents. */
  publicUrl: string;
  /** True if no one had an account before this start. */
  isNew: boolean;
  stop(): Promise<void>;
};

type Options = {
  settings: Env;
  /** True to run the sources instead of the build, with reload on change. */
  dev: boolean;
  report: Report;
  /** Aborts the start. */
  signal: AbortSignal;
  /** Reports an error after the start that cannot be repaired. */
  failed(error: Error): void;
};

/** The data directory of an installation, and the log file of each of its parts. */
export function pathsOf(settings: Env) {
  const dataDir = resolve(settings.CAPSTAN_DATA_DIR);
  return { dataDir, log: (name: string) => join(dataDir, "logs", `${name}.log`) };
}

/** Starts one installation and waits until it responds. On failure nothing is left running. */
export async function startInstance(options: Options): Promise<Instance> {
  const { settings, dev, report } = options;
  const { dataDir, log } = pathsOf(settings);
  makeDataDir(dataDir);
  const secrets = readSecrets(settings);
  const started: Supervised[] = [];
  let postgres: Postgres | null = null;
  let stopping = false;

  async function stop() {
    stopping = true;
    await stopParts(started, report);
    const database = postgres;
    if (database) await report.step("Stopping PostgreSQL", () => database.stop());
    removeRuntime(dataDir);
  }

  try {
    const port = await choosePort(settings);
    if (!settings.DATABASE_URL) {
      requireEmbedded(settings, dataDir, report);
      postgres = await startEmbedded(dataDir, log("postgres"), report);
    }
    options.signal.throwIfAborted();
    const databaseUrl = settings.DATABASE_URL ?? postgres?.url ?? "";
    await migrate(databaseUrl, settings, report);

    const localUrl = `http://${localHost(settings.HOST)}:${port}`;
    const { sandboxPort, sandboxUrl } = await sandboxOf(settings, dataDir);
    const publicUrl = settings.PUBLIC_URL ?? `http://localhost:${port}`;
    const runtime: Runtime = {
      baseUrl: publicUrl,
      databaseUrl,
      sandboxUrl,
      pids: { supervisor: process.pid, ...(postgres && { postgres: postgres.pid }) },
    };
    writeRuntime(dataDir, runtime);

    const env: NodeJS.ProcessEnv = {
      ...processEnv({ settings, secrets, dataDir, port, publicUrl, databaseUrl, dev }),
      ...(sandboxUrl && { SANDBOX_URL: sandboxUrl }),
      ...(sandboxPort !== null && { SANDBOX_PORT: String(sandboxPort) }),
    };

    const noteStart = (name: string, pid: number) => {
      runtime.pids[name] = pid;
      writeRuntime(dataDir, runtime);
    };
    const startPart = (name: string) =>
      started.push(superviseProgram(name, { env, dev, log, report, noteStart }));
    options.signal.throwIfAborted();
    if (sandboxPort !== null) startPart("sandbox");
    startPart("worker");
    startPart("web");
    const { isNew } = hasProgram("seed")
      ? await report.step("Checking the first organization", () => seed(env, log("seed")))
      : { isNew: false };
    await report.step("Waiting until it responds", () =>
      untilReady({ localUrl, parts: started, sandboxUrl, log: dev ? null : log, signal: options.signal }),
    );
    watchPostgres(runtime);
    return { localUrl, publicUrl, isNew, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  // Children reconnect automatically: the server returns on the same port with the same password.
  async function watchPostgres(runtime: Runtime) {
    while (postgres && !stopping) {
      await postgres.exited;
      if (stopping) return;
      report.say(`PostgreSQL stopped unexpectedly; restarting it; log: ${log("postgres")}`);
      const before: string = postgres.url;
      try {
        postgres = await startEmbedded(dataDir, log("postgres"), report);
        runtime.pids.postgres = postgres.pid;
        writeRuntime(dataDir, runtime);
        if (postgres.url !== before)
          throw new Error(
            "Another program is using PostgreSQL's port. Start Capstan again to use a different port.",
          );
      } catch (error) {
        options.failed(error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  }
}

function makeDataDir(dataDir: string): void {
  mkdirSync(join(dataDir, "logs"), { recursive: true });
  // The database server may run as another user, who needs access to its folder.
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
}

const startEmbedded = (dataDir: string, logFile: string, report: Options["report"]) =>
  report.step(
    "Starting PostgreSQL",
    () => startPostgres({ dataDir, logFile }),
    (server) => (server.adopted ? "already running" : "done"),
  );

async function stopParts(parts: Supervised[], report: Options["report"]): Promise<void> {
  for (const name of ["web", "worker", "sandbox"]) {
    const part = parts.find((one) => one.name === name);
    if (part?.pid()) await report.step(`Stopping ${name}`, () => part.stop(GRACE_MS));
    else await part?.stop(0);
  }
}

/** Refuses the embedded database if it must not be used, and names it if it is new. */
function requireEmbedded(settings: Env, dataDir: string, report: Options["report"]): void {
  const fault = embeddedDatabaseFault(settings);
  if (fault) throw new Refusal(fault);
  if (!existsSync(join(dataDir, "postgres.password")))
    report.say("Database: the embedded PostgreSQL, for development. For production, set DATABASE_URL.");
}

const migrate = (databaseUrl: string, settings: Env, report: Options["report"]) =>
  report.step(
    "Migrating the database",
    async () => {
      const applied = await applyMigrations(databaseUrl, undefined, undefined, report.say).catch((error) => {
        throw settings.DATABASE_URL ? explainDatabase(error) : error;
      });
      await migrateEngine(databaseUrl);
      return applied;
    },
    (applied) => (applied.length > 0 ? `applied ${applied.join(", ")}` : "up to date"),
  );

/** Address of the sandbox, null if there is none. Its port is null unless the sandbox is this installation's own. */
async function sandboxOf(settings: Env, dataDir: string) {
  const isOn = settings.SANDBOX || settings.CAPSTAN_ENV !== "production";
  if (!isOn || settings.SANDBOX_URL) return { sandboxPort: null, sandboxUrl: settings.SANDBOX_URL ?? null };
  const sandboxPort = await rememberedPort(join(dataDir, "sandbox.port"), settings.SANDBOX_PORT);
  return { sandboxPort, sandboxUrl: `http://127.0.0.1:${sandboxPort}` };
}

type Supervising = Pick<Options, "dev" | "report"> & {
  env: NodeJS.ProcessEnv;
  log(name: string): string;
  noteStart(name: string, pid: number): void;
};

const superviseProgram = (name: string, { env, dev, log, report, noteStart }: Supervising): Supervised =>
  supervise(
    { name, args: argumentsOf(name, dev), env, logFile: dev ? null : log(name) },
    {
      started: (pid) => noteStart(name, pid),
      died: (why, pauseMs) =>
        report.say(
          `${name} ${why}; restarting it in ${pauseMs / 1_000} s${dev ? "" : `; log: ${log(name)}`}`,
        ),
      message: () => {},
    },
  );

/** Explains a failure of the operator's own database as a settings problem; any other error is reported unchanged. */
function explainDatabase(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const isSetting = /^(E[A-Z_]+|28...|3D000)$/.test(code); // no connection, no right to sign in, no such database
  return isSetting && error instanceof Error
    ? new Error(`Cannot use the database of DATABASE_URL: ${error.message || code}`)
    : error;
}

function argumentsOf(name: string, dev: boolean): string[] {
  if (!dev) return programArgs(name);
  const tsx = "node_modules/tsx/dist/cli.mjs";
  const watch = name === "sandbox" ? [] : ["watch", "--clear-screen=false"];
  return [...nodeArgs(name), tsx, ...watch, programSource(name)];
}

async function choosePort(settings: Env): Promise<number> {
  if (settings.PORT === 0) return freePort(0, settings.HOST);
  if (await canListen(settings.PORT, settings.HOST)) return settings.PORT;
  throw new Error(
    `Port ${settings.PORT} on ${settings.HOST} is in use by another program (or not allowed). Choose another port: PORT=3001 npm run up`,
  );
}

async function rememberedPort(file: string, wanted: number): Promise<number> {
  const port = await freePort(wanted || Number(findFile(file) ?? 0));
  writeWhole(file, String(port));
  return port;
}

function localHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** The last line of the seed's output. */
const Seeded = z.object({ isNew: z.boolean() });

async function seed(env: NodeJS.ProcessEnv, logFile: string): Promise<z.output<typeof Seeded>> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["dist/seed.mjs"], {
      env,
      timeout: 60_000,
    });
    writeWhole(logFile, stdout + stderr);
    return Seeded.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }; // execFile rejects with this
    throw new Error(`Seeding failed: ${stderr?.trim() || message}`);
  }
}

async function untilReady({
  localUrl,
  parts,
  sandboxUrl,
  log,
  signal,
}: {
  localUrl: string;
  parts: Supervised[];
  sandboxUrl: string | null;
  log: ((name: string) => string) | null;
  signal: AbortSignal;
}) {
  const probes = [`${localUrl}/readyz`, ...(sandboxUrl ? [`${sandboxUrl}/healthz`] : [])];
  const deadline = Date.now() + READY_MS;
  const last = new Map<string, string>();
  while (probes.length > 0) {
    signal.throwIfAborted();
    const probe = probes[0]!;
    const answer = await fetch(probe, { signal: AbortSignal.timeout(10_000) }).catch((error: Error) => error);
    if (answer instanceof Response) {
      if (answer.ok) {
        probes.shift();
        continue;
      }
      last.set(probe, `${answer.status} ${(await answer.text()).slice(0, 300)}`);
    }
    const broken = parts.find((part) => part.deaths() >= 4);
    if (broken) {
      const said = log ? ` The end of its log (${log(broken.name)}):\n${lastLines(log(broken.name))}` : "";
      throw new Error(`${broken.name} keeps stopping.${said}`);
    }
    if (Date.now() > deadline)
      throw new Error(
        `${probe} did not respond within ${READY_MS / 1_000} s. ${last.get(probe) ?? "Nothing is listening there."}`,
      );
    await sleep(50);
  }
}
