import { type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { platform } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Signals that ask a command to end, with the exit code that shells give for each. */
const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const GRACE_MS = 15_000;

type Found = { pid: number; parent: number; isPostgres: boolean };

/**
 * Makes this command, when it is asked to end, first end every process that it has started and their descendants, PostgreSQL
 * last. A second signal does not wait. However else the command exits, it leaves no process behind either. Returns a function
 * that takes this back, for a command that ends its processes in an order of its own or leaves them running.
 */
export function endWithChildren({ graceMs = GRACE_MS } = {}): () => void {
  let code: number | undefined;
  const ask = (signal: keyof typeof CODES) => {
    if (code !== undefined) process.exit(); // the listener below ends what is left
    code = CODES[signal];
    void endAll(graceMs).finally(() => process.exit());
  };
  const unwatch = whenShellEnds(() => ask("SIGTERM"));
  const exit = () => {
    endNow();
    if (code !== undefined) process.exitCode = code; // also if the command failed while its processes ended
  };
  const signals = Object.keys(CODES) as (keyof typeof CODES)[]; // its keys are signals
  for (const signal of signals) process.on(signal, ask);
  process.on("exit", exit);
  return () => {
    for (const signal of signals) process.off(signal, ask);
    process.off("exit", exit);
    unwatch();
  };
}

/**
 * Calls `tell` when the shell ends in which npm runs a command: npm passes a signal on to that shell, and the shell does not pass
 * it on to the command. Returns a function that ends the watch.
 */
export function whenShellEnds(tell: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    tell();
  }, 250);
  timer.unref();
  return () => clearInterval(timer);
}

/** Ends all processes below this one without waiting for any of them. */
export function endNow(): void {
  for (const { pid, isPostgres } of descendants()) send(pid, isPostgres ? "SIGINT" : "SIGKILL");
}

/** Asks processes to end and later kills them, including those that are started in between. */
async function endAll(graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  const known = new Set<number>();
  for (;;) {
    const all = processes();
    for (const { pid } of descendants(all)) known.add(pid); // children of a process that ends get another parent
    const left = all.filter(({ pid }) => known.has(pid));
    const others = left.filter(({ isPostgres }) => !isPostgres);
    if (left.length === 0) return;
    const isLate = Date.now() > deadline;
    for (const { pid } of others) send(pid, isLate ? "SIGKILL" : "SIGTERM");
    // PostgreSQL gets a fast shutdown, which does not wait for clients, once the other processes have ended.
    if (others.length === 0) for (const { pid } of left) send(pid, isLate ? "SIGQUIT" : "SIGINT");
    await sleep(100);
  }
}

/** All processes below this one. A PostgreSQL counts as its first process alone, which ends its own. */
function descendants(all = processes()): Found[] {
  const below = (parent: number): Found[] =>
    all
      .filter((each) => each.parent === parent)
      .flatMap((each) => [each, ...(each.isPostgres ? [] : below(each.pid))]);
  return below(process.pid);
}

function processes(): Found[] {
  if (platform() === "win32") return []; // a console ends all of its processes itself
  if (platform() === "linux")
    return readdirSync("/proc").flatMap((name) =>
      /^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : [],
    );
  const { stdout } = spawnSync("ps", ["-axo", "pid=,ppid=,comm="], { encoding: "utf8" });
  return [...stdout.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command = ""]) => ({
    pid: Number(pid),
    parent: Number(parent),
    isPostgres: /(^|\/)postgres$/.test(command),
  }));
}

/**
 * Reads a process as in proc_pid_stat(5): the name is in parentheses and may hold any character. Zombies have ended. Null if the
 * process has ended.
 */
function readProcess(pid: number): Found | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, name, state, parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(line) ?? [];
    return state === "Z" ? null : { pid, parent: Number(parent), isPostgres: name === "postgres" };
  } catch {
    return null; // the process has ended in between
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended in between.
  }
}

export type Done = { status: number | null; stdout: string; stderr: string };

/**
 * Runs a program to its end. While `spawnSync` waits, a command receives no signal and its program would outlive it; here the
 * signal ends both.
 */
export function runToEnd(program: string, args: string[], options: SpawnOptions = {}): Promise<Done> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    const done = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        done[name] += text;
      });
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, ...done }));
  });
}
