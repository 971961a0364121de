import { EventEmitter } from "node:events";
import { Logger, parseCronItems, type Runner, run, type TaskList, type WorkerPool } from "graphile-worker";
import type { Pool, PoolClient } from "pg";
import { ulid } from "@/server/ids";
import type { Envelope } from "./enqueue";

/** The jobs of the queue and what each carries. */
type EngineTasks = { "engine/event": Envelope; "engine/run": { run: string }; "engine/cron": CronTick };
declare global {
  namespace GraphileWorker {
    interface Tasks extends EngineTasks {}
  }
}
export type CronTick = { functionId: string; cron: string; _cron: { ts: string } };

export type QueueLog = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

type QueueOptions = {
  pool: Pool;
  log: QueueLog;
  tasks: { [Name in keyof EngineTasks]: (payload: EngineTasks[Name]) => Promise<void> };
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
 * A job that fails is tried again here after these. The library's own pause, e seconds to the power of how often the job
 * was ever taken, is too long for a dropped connection.
 */
const AGAIN_AFTER_MS = [50, 250, 1_000];

/**
 * Takes jobs from graphile-worker until stopped. The library stops itself when it cannot report what became of a job, for
 * which a dropped connection suffices; then it is started anew under another name. Nobody waits for it to have stopped:
 * where other reports were under way it never has, as its count of them is wrong from then on.
 */
export async function startQueue({ pool, log, tasks, crons, register }: QueueOptions) {
  let runner: Runner | undefined;
  let jobs: WorkerPool | undefined;
  let broken: Promise<void> | undefined;
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

  async function again(name: string, work: () => Promise<void>): Promise<void> {
    for (const pauseMs of AGAIN_AFTER_MS) {
      try {
        return await work();
      } catch (err) {
        if (stopping) throw err;
        log.warn({ err, task: name }, "A job of the queue failed and is tried again");
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return work();
  }
  const taskList: TaskList = {
    "engine/event": (event) => again("engine/event", () => tasks["engine/event"](event)),
    "engine/run": (wake) => again("engine/run", () => tasks["engine/run"](wake)),
    "engine/cron": (tick) => again("engine/cron", () => tasks["engine/cron"](tick)),
  };

  async function start(): Promise<void> {
    const name = `queue-${ulid()}`;
    await register(name);
    const events = new EventEmitter();
    events.on("pool:create", ({ workerPool }: { workerPool: WorkerPool }) => {
      workerPool.id = name;
      jobs = workerPool;
    });
    const breaking = new Promise<void>((resolve) => events.once("pool:fatalError", () => resolve()));
    const started = await run({
      pgPool: pool,
      events,
      taskList,
      parsedCronItems,
      noHandleSignals: true,
      logger: new Logger(() => (level, message) => log[level === "error" ? "error" : "debug"]({}, message)),
      preset: {
        worker: {
          concurrentJobs: HANDLERS,
          localQueue: { size: HANDLERS },
          completeJobBatchDelay: COMPLETE_AFTER_MS,
          failJobBatchDelay: COMPLETE_AFTER_MS, // else nobody handles that this fails, and the process ends
          pollInterval: 1_000,
        },
      },
    });
    runner = started;
    broken = breaking;
    Promise.race([started.promise.catch(() => {}), breaking]).then(() => restart(started));
  }

  async function restart(previous?: Runner): Promise<void> {
    if (stopping) return;
    log.error({}, "The queue has stopped by itself and is started again");
    previous?.stop().catch(() => {}); // ends its cron; it may have stopped already
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
      await Promise.race([runner?.stop().catch(() => {}), broken]); // it may have stopped by itself
      pool.off("connect", onConnect);
    },
  };
}
