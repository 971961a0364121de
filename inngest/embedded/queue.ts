import { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type Job, Logger, type Runner, run, type WorkerPool } from "graphile-worker";
import type { Pool, PoolClient } from "pg";

export type QueueLog = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

type QueueOptions = {
  pool: Pool;
  log: QueueLog;
  tasks: { name: string; work: (payload: unknown, job: Job) => Promise<void> }[];
  concurrency: number;
  stopMs: number;
  /** Called before the queue takes jobs under a new name. A name that stays silent loses its locked jobs. */
  newName: () => Promise<string>;
};

export type Queue = Awaited<ReturnType<typeof startQueue>>;

/** Finished jobs are deleted in batches, this long after the first. */
const COMPLETE_AFTER_MS = 10;
const RESTART_MS = 500;
/** A full worker returns jobs that it has fetched and not begun after this time. */
const KEEP_MS = 500;
const POLL_MS = 1_000;

/**
 * Takes jobs from graphile-worker until stopped. The library stops itself when it cannot report the outcome of a job, for
 * which a dropped connection suffices; a new runner is then started under another name. The old one is not awaited: if other
 * reports were in flight, it miscounts them and never ends.
 */
export async function startQueue({ pool, log, tasks, concurrency, stopMs, newName }: QueueOptions) {
  let runner: Runner | undefined;
  let jobs: WorkerPool | undefined;
  let broken: Promise<void> | undefined;
  let stopping = false;

  async function start(): Promise<void> {
    const name = await newName();
    const events = new EventEmitter();
    events.on("pool:create", ({ workerPool }: { workerPool: WorkerPool }) => {
      workerPool.id = name;
      jobs = workerPool;
    });
    const breaking = new Promise<void>((resolve) => events.once("pool:fatalError", () => resolve()));
    const started = await run({
      pgPool: pool,
      events,
      taskList: Object.fromEntries(
        tasks.map(({ name, work }) => [
          name,
          (payload: unknown, { job }: { job: Job }) => work(payload, job),
        ]),
      ),
      noHandleSignals: true,
      logger: new Logger(() => (level, message) => log[level === "error" ? "error" : "debug"]({}, message)),
      preset: {
        worker: {
          concurrentJobs: concurrency,
          localQueue: { size: concurrency, ttl: KEEP_MS },
          completeJobBatchDelay: COMPLETE_AFTER_MS,
          failJobBatchDelay: COMPLETE_AFTER_MS, // without a delay, failing to store a job's failure would be an unhandled rejection and end the process
          pollInterval: POLL_MS,
        },
      },
    });
    runner = started;
    broken = breaking;
    Promise.race([started.promise.catch(() => {}), breaking]).then(() => restart(started));
  }

  async function restart(previous?: Runner): Promise<void> {
    if (stopping) return;
    log.error({}, "The queue has stopped and is started again");
    previous?.stop().catch(() => {}); // it may have stopped itself
    await pause(RESTART_MS);
    if (stopping) return;
    await start().catch((err) => {
      log.error({ err }, "The queue cannot start");
      return restart();
    });
  }

  // A connection that breaks during use must not end the process.
  const onConnect = (client: PoolClient) =>
    client.on("error", (err) => log.warn({ err }, "A connection broke"));
  pool.on("connect", onConnect);
  await start();
  return {
    /** Makes the queue look for jobs now. */
    nudge(): void {
      if (!stopping) jobs?.nudge(1);
    },
    /** Takes nothing new and waits up to `stopMs` for the jobs at work. */
    async stop(): Promise<void> {
      stopping = true;
      const late = pause(stopMs, undefined, { ref: false });
      await Promise.race([runner?.stop().catch(() => {}), broken, late]); // it may have stopped itself
      pool.off("connect", onConnect);
    },
  };
}
