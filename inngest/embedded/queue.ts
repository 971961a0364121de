import { EventEmitter } from "node:events";
import { Logger, parseCronItems, type Runner, run, type TaskList, type WorkerPool } from "graphile-worker";
import type { Pool, PoolClient } from "pg";
import { ulid } from "@/server/ids";
import type { Envelope } from "./enqueue";

/** The jobs of the queue and what each carries. */
declare global {
  namespace GraphileWorker {
    interface Tasks {
      "engine/event": Envelope;
      "engine/run": { run: string };
      "engine/cron": CronTick;
    }
  }
}
export type CronTick = { functionId: string; cron: string; _cron: { ts: string } };

export type QueueLog = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

type QueueOptions = {
  pool: Pool;
  log: QueueLog;
  tasks: TaskList;
  crons: { functionId: string; cron: string }[];
  /** Called before the queue takes jobs in this name: whoever finds the name silent frees what it has locked. */
  register: (name: string) => Promise<void>;
};

export type Queue = Awaited<ReturnType<typeof startQueue>>;

/** Jobs taken at once. They only start runs, which then go on outside the queue. */
const HANDLERS = 16;
/** Jobs that are done are written off together, and not while the run that one of them started takes its first steps. */
const COMPLETE_AFTER_MS = 10;
const RESTART_MS = 500;

/**
 * Takes jobs from graphile-worker until stopped. The library stops itself when it cannot report a job as done, for
 * which a dropped connection suffices; then it is started anew under another name.
 */
export async function startQueue({ pool, log, tasks, crons, register }: QueueOptions) {
  let runner: Runner | undefined;
  let jobs: WorkerPool | undefined;
  let stopping = false;
  const parsedCronItems = parseCronItems(
    crons.map(({ functionId, cron }) => ({
      task: "engine/cron",
      match: cron,
      identifier: `${functionId}:${cron}`,
      payload: { functionId, cron },
      options: { backfillPeriod: 120_000 }, // a tick missed in a restart is made up for
    })),
  );

  async function start(): Promise<void> {
    const name = `queue-${ulid()}`;
    await register(name);
    const events = new EventEmitter();
    events.on("pool:create", ({ workerPool }: { workerPool: WorkerPool }) => {
      workerPool.id = name;
      jobs = workerPool;
    });
    const started = await run({
      pgPool: pool,
      events,
      taskList: tasks,
      parsedCronItems,
      noHandleSignals: true,
      logger: new Logger(() => (level, message) => log[level === "error" ? "error" : "debug"]({}, message)),
      preset: {
        worker: {
          concurrentJobs: HANDLERS,
          localQueue: { size: HANDLERS },
          completeJobBatchDelay: COMPLETE_AFTER_MS,
          pollInterval: 1_000,
        },
      },
    });
    runner = started;
    started.promise.catch(() => {}).then(restart);
  }

  async function restart(): Promise<void> {
    if (stopping) return;
    log.error({}, "The queue has stopped by itself and is started again");
    await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    if (stopping) return;
    await start().catch((err) => {
      log.error({ err }, "The queue cannot start");
      return restart();
    });
  }

  // A connection that breaks while it is in use must not end the process.
  const onConnect = (client: PoolClient) =>
    client.on("error", (err) => log.warn({ err }, "A connection broke"));
  pool.on("connect", onConnect);
  await start();
  return {
    /** Looks for jobs now. */
    nudge(): void {
      if (!stopping) jobs?.nudge(1);
    },
    /** Takes nothing new and waits for the handlers. */
    async stop(): Promise<void> {
      stopping = true;
      await runner?.stop().catch(() => {}); // it may have stopped by itself
      pool.off("connect", onConnect);
    },
  };
}
