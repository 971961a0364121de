import type { MessagePort, Worker } from "node:worker_threads";
import { threadCpuMs } from "./thread-clock";
import { findProgram, type Program } from "./thread-program";

/** What a worker says once, before its first answer; `threadId` is the system's, by which its processor time is read. */
export type Ready = { state: "ready"; threadId?: number | null };

/** There is no answer: the thread was stopped at the deadline, ran out of memory, or failed in another way. */
export type Stopped = { state: "stopped"; by: "deadline" | "memory" | "failure"; cause?: unknown };

/** Only the clock ended the work, so its input is not to blame. It may be tried again. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

export type Pool<I, A> = {
  /**
   * Runs one piece of work in its turn. The deadline is in the thread's processor time where the system reports it, and at
   * most `LONGEST_WAIT_MS` longer in real time. Rejects when workers cannot run, and on the signal.
   */
  run(input: I, options?: { signal?: AbortSignal; deadlineMs?: number }): Promise<A | Stopped>;
  /** Stops the workers and rejects what still waits. */
  close(): Promise<void>;
};

type Limits = {
  /** Of the threads, for people who look at the process. */
  name: string;
  /** How many run at once. */
  size: number;
  deadlineMs: number;
  /** JavaScript's own memory of one thread; what typed arrays hold is outside. */
  memoryMb: number;
  /** Whether a thread ends with its work, which frees its memory, or stays for the next. */
  isForOneTask?: boolean;
};

/** A thread that waits for the processor, or for another thread, is stopped so much later on the wall. */
const LONGEST_WAIT_MS = 60_000;
/** Between two looks at the processor time of a thread that is late. */
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
  /** When the task began: processor time of the thread, and time on the wall, in milliseconds. */
  began: { cpuMs: number | null; wallMs: number };
};

/** The threads of the program `server/compute/<name>/worker.ts`, started with the first work; closed, they start again. */
export function threadsOf<I, A extends Answer>(limits: Limits): Pool<I, A> {
  // One pool a process, though a module may be loaded by several bundles in it.
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

/** The threads of one pool, and the work that waits for them. */
type Crew<I, A> = {
  limits: Limits & { program: Program };
  waiting: Task<I, A>[];
  slots: Set<Slot<I, A>>;
  closed: boolean;
};

/**
 * A fixed number of worker threads, started before they are needed. A worker that misses the deadline, or dies, is
 * replaced. Idle workers do not keep the process alive.
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
  // Asked of the process, so that bundlers leave the worker's path alone.
  const { MessageChannel, Worker } = process.getBuiltinModule("node:worker_threads");
  const { port1: port, port2 } = new MessageChannel();
  const { program } = crew.limits;
  const worker = new Worker("file" in program ? program.file : program.code, {
    eval: "code" in program,
    workerData: { port: port2 },
    transferList: [port2],
    // Nothing of this process is any business of what is worked on.
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
    slot.threadId = (answer as Ready).threadId ?? null; // by its state
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
  // This thread may have been busy itself while the answer lay there.
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

/** What a late task may still use: the processor was busy with something else for some of its time. */
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

/** A worker ended on its own: out of memory, or it could not start. */
function lose<I, A extends Answer>(
  crew: Crew<I, A>,
  slot: Slot<I, A>,
  cause: (Error & { code?: string }) | undefined,
): void {
  const { state, task } = slot;
  if (state === "gone") return;
  remove(crew, slot);
  if (state === "starting") {
    // Starting it again would end the same way.
    const error = new Error(`A worker thread of ${crew.limits.name} could not start.`, { cause });
    for (const left of crew.waiting.splice(0)) left.reject(error);
    return;
  }
  const by = cause?.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "failure";
  task?.resolve({ state: "stopped", by, cause });
  fill(crew);
}

/** Ends the wait for a task, whether it runs or not. */
function abandon<I, A extends Answer>(crew: Crew<I, A>, task: Task<I, A>, why: unknown): void {
  task.reject(why);
  const place = crew.waiting.indexOf(task);
  if (place >= 0) crew.waiting.splice(place, 1);
  for (const slot of crew.slots) if (slot.task === task) replace(crew, slot);
}
