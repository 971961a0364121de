import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findFile } from "./files";

type Program = {
  name: string;
  /** Arguments of Node. */
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Null writes to our own output. */
  logFile: string | null;
};

/** A process that is restarted whenever it dies, until it is stopped. */
export type Supervised = {
  name: string;
  pid(): number | null;
  /** The number of deaths since the process last stayed up for a while. */
  deaths(): number;
  /** Asks the process to end and resolves when it has; kills it after the grace period. */
  stop(graceMs: number): Promise<void>;
};

const LONG_ENOUGH_MS = 15_000;
const LARGEST_LOG = 20_000_000;

/** Starts a process and keeps it running: restarts immediately the first time, then with growing delays up to ten seconds. */
export function supervise(
  program: Program,
  told: {
    started(pid: number): void;
    died(why: string, pauseMs: number): void;
    message(value: unknown): void;
  },
): Supervised {
  let child: ChildProcess | null = null;
  let deaths = 0;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;

  function start() {
    const startedAt = Date.now();
    const log = program.logFile ? openLog(program.logFile) : "inherit";
    child = spawn(process.execPath, program.args, {
      env: program.env,
      // The child gets its own process group: Ctrl-C reaches the launcher only, which stops the processes in order.
      detached: process.platform !== "win32",
      stdio: ["ignore", log, log, "ipc"],
    });
    if (typeof log === "number") closeSync(log);
    if (child.pid) told.started(child.pid);
    child.on("message", told.message);
    child.on("error", () => {}); // an `exit` event or a missing pid reports the same
    child.once("exit", (code, signal) => {
      child = null;
      if (stopping) return;
      deaths = Date.now() - startedAt > LONG_ENOUGH_MS ? 1 : deaths + 1;
      const pauseMs = Math.min(10_000, deaths === 1 ? 50 : 100 * 2 ** deaths);
      told.died(signal ? `was killed by ${signal}` : `ended with exit code ${code}`, pauseMs);
      timer = setTimeout(start, pauseMs);
    });
  }
  start();

  return {
    name: program.name,
    pid: () => child?.pid ?? null,
    deaths: () => deaths,
    async stop(graceMs) {
      stopping = true;
      clearTimeout(timer);
      const running = child;
      if (!running) return;
      await new Promise<void>((resolve) => {
        const last = setTimeout(() => running.kill("SIGKILL"), graceMs);
        running.once("exit", () => {
          clearTimeout(last);
          resolve();
        });
        running.kill("SIGTERM");
      });
    },
  };
}

function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_LOG) renameSync(path, `${path}.1`);
  return openSync(path, "a", 0o600);
}

/** The last lines of a log, for a message about a failure. */
export function lastLines(path: string, count = 15): string {
  return (findFile(path) ?? "").trimEnd().split("\n").slice(-count).join("\n");
}
