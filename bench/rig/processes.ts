import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { lastLines } from "../../scripts/launch/child";

/** The subject of a measurement has a core of its own; the load and the upstream share the other one. */
export const SUBJECT_CORE = 1;
export const LOAD_CORE = 0;

export type Running = {
  name: string;
  pid: number;
  hasEnded(): boolean;
  /** Asks the program to end and settles when it has ended; kills it after twenty seconds. */
  stop(): Promise<void>;
};

const running = new Set<Running>();

/** Starts a program on one core and appends its output to a log file. */
export function start(
  name: string,
  core: number,
  command: string[],
  { env = process.env, cwd, log }: { env?: NodeJS.ProcessEnv; cwd?: string; log: string },
): Running {
  const output = openSync(log, "a");
  const child = spawn("taskset", ["-c", String(core), ...command], {
    env,
    cwd,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  return track(name, child);
}

/** Keeps a child so that `stopAll` ends it. Throws when it did not start. */
export function track(name: string, child: ChildProcess): Running {
  if (child.pid === undefined) throw new Error(`${name} did not start`);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const one: Running = {
    name,
    pid: child.pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      running.delete(one);
      if (one.hasEnded()) return;
      child.kill("SIGTERM");
      const last = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await ended;
      clearTimeout(last);
    },
  };
  running.add(one);
  return one;
}

/** Returns the programs that run now. */
export const runningNow = (): ReadonlySet<Running> => new Set(running);

/** Ends everything that still runs, the last started first, except these. */
export async function stopAll(but: ReadonlySet<Running> = new Set()): Promise<void> {
  for (const one of [...running].reverse()) if (!but.has(one)) await one.stop();
}

/** Puts this process on a core. */
export function pinSelf(core: number): void {
  spawnSync("taskset", ["-cp", String(core), String(process.pid)], { stdio: "ignore" });
}

/**
 * Waits until this address answers with a status below 500. Throws, with the end of the log, when the program ends or a minute
 * has passed.
 */
export async function untilAnswers(url: string, one: Running, log: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (Date.now() < end && !one.hasEnded()) {
    const status = await statusOf(url).catch(() => 500);
    if (status < 500) return;
    await sleep(100);
  }
  const how = one.hasEnded() ? "has ended" : `does not answer at ${url}`;
  throw new Error(`${one.name} ${how}. The end of its log:\n${lastLines(log)}`);
}

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  await answer.arrayBuffer();
  return answer.status;
}

const MICROS_PER_TICK = 10_000; // USER_HZ is 100 on every Linux

/** CPU time in microseconds, user and system, that a process and its children have used so far, including children that ended. */
export function cpuMicros(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + timesOf(each), 0) * MICROS_PER_TICK;
}

/** Sums the ticks of a process and of its children that ended: PostgreSQL starts one for each connection. */
const timesOf = (pid: number) =>
  statOf(pid)
    .slice(11, 15) // utime, stime, cutime, cstime
    .reduce((sum, ticks) => sum + Number(ticks), 0);

/** Reads the fields of /proc/<pid>/stat after the command's name, which may hold spaces; empty when the process is gone. */
function statOf(pid: number): string[] {
  const line = statLine(pid);
  return line === "" ? [] : line.slice(line.lastIndexOf(")") + 2).split(" ");
}

function statLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

const processIds = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
const parentOf = (pid: number) => Number(statOf(pid)[1]);

function childrenOf(parent: number): number[] {
  return processIds().filter((pid) => parentOf(pid) === parent);
}

export type Cpu = { postgres: number; others: number };

/** CPU time of a process and of all processes below it so far, in microseconds; those of PostgreSQL apart. */
export function cpuBelow(root: number): Cpu {
  const parents = new Map(processIds().map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isBelow(parents.get(pid)));
  const cpu = { postgres: 0, others: 0 };
  for (const pid of parents.keys())
    if (isBelow(pid)) cpu[isPostgres(pid) ? "postgres" : "others"] += timesOf(pid) * MICROS_PER_TICK;
  return cpu;
}

const isPostgres = (pid: number) => statLine(pid).includes("(postgres) ");
