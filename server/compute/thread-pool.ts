import type { MessagePort, Worker } from "node:worker_threads";
import type { Program } from "./thread-program";

/** What a worker says once, before its first answer. */
export type Ready = { state: "ready" };

export type Pool<I, A extends { state: string }> = {
  /** One piece of work, in its turn. Null: it was stopped at the deadline. Rejects when workers cannot run at all. */
  run(input: I): Promise<A | null>;
  /** Stops the workers and rejects what still waits. */
  close(): Promise<void>;
};

type Task<I, A> = {
  input: I;
  resolve(answer: A | null): void;
  reject(error: Error): void;
};

type Slot<I, A> = {
  worker: Worker;
  port: MessagePort;
  state: "starting" | "idle" | "busy" | "gone";
  task: Task<I, A> | null;
  deadline: NodeJS.Timeout | undefined;
};

/**
 * A fixed number of worker threads, started before they are needed. A worker that misses the deadline, or dies, is
 * replaced. Idle workers do not keep the process alive.
 */
export function startPool<I, A extends { state: string }>(options: {
  /** Of the threads, for whoever looks at the process. */
  name: string;
  program: Program;
  size: number;
  deadlineMs: number;
  memoryMb: number;
}): Pool<I, A> {
  // Asked of the process, so that bundlers leave the worker's path alone.
  const { MessageChannel, receiveMessageOnPort, Worker } = process.getBuiltinModule("node:worker_threads");
  const waiting: Task<I, A>[] = [];
  const slots = new Set<Slot<I, A>>();
  let closed = false;

  function start(): void {
    const { port1: port, port2 } = new MessageChannel();
    const program = options.program;
    const worker = new Worker("file" in program ? program.file : program.code, {
      eval: "code" in program,
      workerData: { port: port2 },
      transferList: [port2],
      // Nothing of this process is any business of what is worked on.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMb },
      name: options.name,
    });
    const slot: Slot<I, A> = { worker, port, state: "starting", task: null, deadline: undefined };
    slots.add(slot);
    port.on("message", (answer: A | Ready) => receive(slot, answer));
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => lose(slot, cause));
  }

  function receive(slot: Slot<I, A>, answer: A | Ready): void {
    if (slot.state === "gone") return;
    if (answer.state === "ready") {
      slot.worker.unref();
    } else {
      clearTimeout(slot.deadline);
      slot.task?.resolve(answer as A); // whatever is not Ready is an answer
      slot.task = null;
    }
    slot.state = "idle";
    slot.port.unref();
    assign();
  }

  function assign(): void {
    for (const slot of slots) {
      if (slot.state !== "idle") continue;
      const task = waiting.shift();
      if (!task) return;
      slot.state = "busy";
      slot.task = task;
      slot.port.ref();
      slot.port.postMessage(task.input);
      slot.deadline = setTimeout(() => expire(slot), options.deadlineMs);
    }
  }

  function expire(slot: Slot<I, A>): void {
    // This thread may have been busy itself while the answer lay there.
    const late = receiveMessageOnPort(slot.port);
    if (late) {
      receive(slot, late.message);
      return;
    }
    slot.task?.resolve(null);
    remove(slot);
    void slot.worker.terminate();
    if (!closed) start();
  }

  function remove(slot: Slot<I, A>): void {
    clearTimeout(slot.deadline);
    slot.state = "gone";
    slot.task = null;
    slot.port.close();
    slots.delete(slot);
  }

  /** A worker ended by itself: out of memory, or it could not start. */
  function lose(slot: Slot<I, A>, cause: unknown): void {
    const { state, task } = slot;
    if (state === "gone") return;
    remove(slot);
    if (state === "starting") {
      // Starting it again would end the same way.
      const error = new Error(`A worker thread of ${options.name} could not start.`, { cause });
      for (const left of waiting.splice(0)) left.reject(error);
      return;
    }
    task?.resolve(null);
    if (!closed) start();
  }

  for (let n = 0; n < options.size; n++) start();

  return {
    run(input) {
      return new Promise((resolve, reject) => {
        if (closed) {
          reject(new Error(`The pool of ${options.name} threads is closed.`));
          return;
        }
        while (slots.size < options.size) start();
        waiting.push({ input, resolve, reject });
        assign();
      });
    },
    async close() {
      closed = true;
      const error = new Error(`The pool of ${options.name} threads is closed.`);
      for (const task of waiting.splice(0)) task.reject(error);
      await Promise.all(
        [...slots].map((slot) => {
          slot.task?.reject(error);
          remove(slot);
          return slot.worker.terminate();
        }),
      );
    },
  };
}
