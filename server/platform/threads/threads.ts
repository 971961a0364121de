import type { MessagePort, Worker } from "node:worker_threads";
import { threadCpuMs } from "./thread-clock";
import { findProgram, type Program } from "./thread-program";

/** A worker's first message. `threadId` is the system's, by which the thread's processor time is read. */
export type Ready = { state: "ready"; threadId?: number | null };

/** No answer: the thread was stopped at the deadline, ran out of memory, or failed in another way. */
export type Stopped = { state: "stopped"; by: "deadline" | "memory" | "failure"; cause?: unknown };

/** Thrown if only the clock ended the work: its input is not to blame, and the work may be tried again. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

export type Pool<I, A> = {
  /**
   * Runs one task in its turn. The deadline is in the thread's processor time if the system reports it, and at most
   * `LONGEST_WAIT_MS` longer in real time. Rejects if workers cannot run, and when the signal aborts.
   */
  run(input: I, options?: { signal?: AbortSignal; deadlineMs?: number }): Promise<A | Stopped>;
  /** Stops the workers and rejects running and waiting tasks. */
  close(): Promise<void>;
};

type Limits = {
  /** Name of the threads, for people who look at the process. */
  name: string;
  /** Number of threads. */
  size: number;
  deadlineMs: number;
  /** JavaScript heap of one thread; the contents of typed arrays are outside. */
  memoryMb: number;
  /** True if a thread ends with its task, which frees its memory; otherwise it stays for the next. */
  isForOneTask?: boolean;
};

/** Real time beyond the deadline after which a thread is stopped although it waited for the processor or another thread. */
const LONGEST_WAIT_MS = 60_000;
/** Least time between two looks at the processor time of a late thread. */
const LEAST_LOOK_MS = 10;

type Task<I, A> = {
  input: I;
  deadlineMs: number;
  resolve(answer: A | Stopped): void;
  reject(error: unknown): void;
};

type Slot<I, A> = {
  worker: Worker;
  port: MessagePort;
  state: "starting" | "idle" | "busy" | "gone";
  task: Task<I, A> | null;
  deadline: NodeJS.Timeout | undefined;
  threadId: number | null;
  /** Start of the task: processor time of the thread, and wall-clock time, in milliseconds. */
  began: { cpuMs: number | null; wallMs: number };
};

/**
 * The threads of the program `server/compute/<name>/worker.ts`. They start with the first task, and after `close` with the next
 * one.
 */
export function threadsOf<I, A extends Answer>(limits: Limits): Pool<I, A> {
  // One pool a process, even if several bundles load this module.
  const key = Symbol.for(`capstan.threads.${limits.name}`);
  const home: typeof globalThis & { [key]?: Promise<Pool<I, A>> } = globalThis;
  const start = () =>
    findProgram(limits.name)
      .then((program) => startPool<I, A>({ ...limits, program }))
      .catch((error) => {
        delete home[key]; // the next caller retries
        throw error;
      });
  return {
    async run(input, options) {
      home[key] ??= start();
      return (await home[key]).run(input, options);
    },
    async close() {
      const running = home[key];
      delete home[key];
      await (await running)?.close();
    },
  };
}

type Answer = { state: string };

/** The threads of one pool, and the tasks that wait for them. */
type Crew<I, A> = {
  limits: Limits & { program: Program };
  waiting: Task<I, A>[];
  slots: Set<Slot<I, A>>;
  closed: boolean;
};

/**
 * Starts a fixed number of worker threads before they are needed, or with each task if they are for one task. A worker that
 * misses the deadline, or dies, is replaced. Idle workers do not keep the process alive.
 */
export function startPool<I, A extends Answer>(limits: Limits & { program: Program }): Pool<I, A> {
  const crew: Crew<I, A> = { limits, waiting: [], slots: new Set(), closed: false };
  if (!crew.limits.isForOneTask) fill(crew);

  return {
    run(input, { signal, deadlineMs = crew.limits.deadlineMs } = {}) {
      let onAbort = () => {};
      return new Promise<A | Stopped>((resolve, reject) => {
        signal?.throwIfAborted();
        if (crew.closed) throw new Error(`The pool of ${crew.limits.name} threads is closed.`);
        const task: Task<I, A> = { input, deadlineMs, resolve, reject };
        onAbort = () => abandon(crew, task, signal?.reason);
        signal?.addEventListener("abort", onAbort);
        crew.waiting.push(task);
        fill(crew);
        assign(crew);
      }).finally(() => signal?.removeEventListener("abort", onAbort));
    },
    async close() {
      crew.closed = true;
      const error = new Error(`The pool of ${crew.limits.name} threads is closed.`);
      for (const task of crew.waiting.splice(0)) task.reject(error);
      await Promise.all(
        [...crew.slots].map((slot) => {
          slot.task?.reject(error);
          remove(crew, slot);
          return slot.worker.terminate();
        }),
      );
    },
  };
}

function fill<I, A extends Answer>(crew: Crew<I, A>): void {
  if (crew.closed || (crew.limits.isForOneTask && crew.waiting.length === 0)) return;
  while (crew.slots.size < crew.limits.size) start(crew);
}

function start<I, A extends Answer>(crew: Crew<I, A>): void {
  // Loaded through the process, so that bundlers leave the worker's path alone.
  const { MessageChannel, Worker } = process.getBuiltinModule("node:worker_threads");
  const { port1: port, port2 } = new MessageChannel();
  const { program } = crew.limits;
  const worker = new Worker("file" in program ? program.file : program.code, {
    eval: "code" in program,
    workerData: { port: port2 },
    transferList: [port2],
    // The work gets nothing of this process's environment.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: crew.limits.memoryMb },
    name: crew.limits.name,
  });
  const slot: Slot<I, A> = {
    worker,
    port,
    state: "starting",
    task: null,
    deadline: undefined,
    threadId: null,
    began: { cpuMs: null, wallMs: 0 },
  };
  crew.slots.add(slot);
  port.on("message", (answer: A | Ready) => receive(crew, slot, answer));
  let cause: (Error & { code?: string }) | undefined;
  worker.on("error", (error) => {
    cause = error;
  });
  worker.on("exit", () => lose(crew, slot, cause));
}

function receive<I, A extends Answer>(crew: Crew<I, A>, slot: Slot<I, A>, answer: A | Ready): void {
  if (slot.state === "gone") return;
  if (answer.state === "ready") {
    slot.worker.unref();
    slot.threadId = (answer as Ready).threadId ?? null; // its state says so
  } else {
    slot.task?.resolve(answer as A); // whatever is not Ready is an answer
    if (crew.limits.isForOneTask) {
      replace(crew, slot);
      return;
    }
    clearTimeout(slot.deadline);
    slot.task = null;
  }
  slot.state = "idle";
  slot.port.unref();
  assign(crew);
}

function assign<I, A extends Answer>(crew: Crew<I, A>): void {
  for (const slot of crew.slots) {
    if (slot.state !== "idle") continue;
    const task = crew.waiting.shift();
    if (!task) return;
    slot.state = "busy";
    slot.task = task;
    slot.port.ref();
    slot.began = { cpuMs: threadCpuMs(slot.threadId), wallMs: performance.now() };
    slot.port.postMessage(task.input);
    slot.deadline = setTimeout(() => expire(crew, slot), task.deadlineMs);
  }
}

function expire<I, A extends Answer>(crew: Crew<I, A>, slot: Slot<I, A>): void {
  // The answer may have arrived while this thread was busy.
  const late = process.getBuiltinModule("node:worker_threads").receiveMessageOnPort(slot.port);
  if (late) {
    receive(crew, slot, late.message);
    return;
  }
  const leftMs = slot.task ? timeLeft(slot, slot.task) : 0;
  if (leftMs > 0) {
    slot.deadline = setTimeout(() => expire(crew, slot), Math.max(leftMs, LEAST_LOOK_MS));
    return;
  }
  slot.task?.resolve({ state: "stopped", by: "deadline" });
  replace(crew, slot);
}

/** Processor time that a late task may still use, because the processor was busy with other work for a part of its time. */
function timeLeft<I, A>({ threadId, began }: Slot<I, A>, { deadlineMs }: Task<I, A>): number {
  const usedMs = performance.now() - began.wallMs;
  const cpuMs = threadCpuMs(threadId);
  if (cpuMs === null || began.cpuMs === null || usedMs >= deadlineMs + LONGEST_WAIT_MS) return 0;
  return deadlineMs - (cpuMs - began.cpuMs);
}

function replace<I, A extends Answer>(crew: Crew<I, A>, slot: Slot<I, A>): void {
  remove(crew, slot);
  void slot.worker.terminate();
  fill(crew);
}

function remove<I, A extends Answer>(crew: Crew<I, A>, slot: Slot<I, A>): void {
  clearTimeout(slot.deadline);
  slot.state = "gone";
  slot.task = null;
  slot.port.close();
  crew.slots.delete(slot);
}

/** Handles a worker that ended on its own: it ran out of memory, failed, or could not start. */
function lose<I, A extends Answer>(
  crew: Crew<I, A>,
  slot: Slot<I, A>,
  cause: (Error & { code?: string }) | undefined,
): void {
  const { state, task } = slot;
  if (state === "gone") return;
  remove(crew, slot);
  if (state === "starting") {
    // A restart would fail the same way.
    const error = new Error(`A worker thread of ${crew.limits.name} could not start.`, { cause });
    for (const left of crew.waiting.splice(0)) left.reject(error);
    return;
  }
  const by = cause?.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "failure";
  task?.resolve({ state: "stopped", by, cause });
  fill(crew);
}

/** Ends the wait for a task, whether the task runs or not. */
function abandon<I, A extends Answer>(crew: Crew<I, A>, task: Task<I, A>, why: unknown): void {
  task.reject(why);
  const place = crew.waiting.indexOf(task);
  if (place >= 0) crew.waiting.splice(place, 1);
  for (const slot of crew.slots) if (slot.task === task) replace(crew, slot);
}
