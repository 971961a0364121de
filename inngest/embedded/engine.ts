import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Job } from "graphile-worker";
import type { Pool } from "pg";
import type { Flow } from "@/inngest/flow";
import { systemCtx } from "@/server/domain/ctx";
import { engineWorker } from "@/server/generated/schema";
import type { Json, Step } from "@/server/platform/durable/step";
import { ulid } from "@/server/platform/ids";
import { HOUR_MS } from "@/server/platform/time/units";
import { bool, column, jsonb, list, maybe, nothing, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type RunWake, toWake } from "./enqueue";
import { type Queue, type QueueLog, startQueue } from "./queue";

export type EngineOptions = {
  flows: readonly Flow[];
  /** Shared with the product; keep at least 4 connections for the engine. */
  pool: Pool;
  /** The most runs at work in this process at once. */
  concurrency?: number;
  log: QueueLog;
  /** A worker that is silent for this long loses its jobs to other workers. */
  leaseMs?: number;
  /** The time that `stop` gives steps in flight to finish. */
  stopMs?: number;
  /** The pause before a retry; the first retry is 1. */
  backoffMs?: (retry: number) => number;
};

/** A run that sleeps for longer gives up its turn, and its job returns to the queue. */
const SHORT_MS = 250;
const TIDY_MS = 60_000;
const LONGEST_TIMER_MS = HOUR_MS;
/**
 * A failing part of a turn is repeated after these pauses, ahead of the flow's own retries: a broken connection lasts
 * moments.
 */
const REPEAT_AFTER_MS = [50, 250, 1_000];

type Payload = RunWake["payload"] & { hasTurn?: true };

/**
 * Starts a worker, which takes woken runs from the queue and runs their flows until `stop`. `migrateEngine` must have been
 * called before.
 */
export async function startEngine(options: EngineOptions): Promise<{ stop(): Promise<void> }> {
  const { flows, pool, log, concurrency = 100, leaseMs = 6_000, stopMs = 10_000 } = options;
  const { backoffMs = defaultBackoffMs } = options;
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const timers = new Set<NodeJS.Timeout>();
  const atWork = new Set<string>(); // ids of the queue's jobs
  let queue: Queue | undefined;
  let worker = "";
  const again = <T>(work: () => Promise<T>) => repeated(work, log);

  /** One turn of a run, until the run ends, sleeps for long, or throws. */
  async function work(flow: Flow, { data, retries = 0, hasTurn }: Payload, job: Job): Promise<void> {
    const wake = toWake({ name: flow.event.name, data });
    // The first delivery of a woken run has a turn. A run that slept takes one, and so does a run whose worker died.
    if (!(hasTurn && job.attempts === 1) && !(await again(() => takeTurn(pool, wake)))) return;
    let afterMs: number | null;
    try {
      afterMs = await again(() => drive(flow, wake, stopping.signal));
    } catch (err) {
      afterMs = retries < flow.retries ? backoffMs(retries + 1) : null;
      wake.payload.retries = retries + 1;
      const outcome = afterMs === null ? "failed for good: its row is left to the sweeper" : "is retried";
      log.error({ err, flow: flow.id, run: wake.key, afterMs }, `A run ${outcome}`);
    }
    await again(() => endTurn(pool, wake, afterMs));
    if (afterMs !== null) lookAgainIn(afterMs);
  }

  /** The queue looks for due jobs once a second; this timer makes it look as soon as the job is due. */
  function lookAgainIn(ms: number): void {
    if (ms > LONGEST_TIMER_MS || stopping.signal.aborted) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      queue?.nudge();
    }, ms + 2);
    timers.add(timer.unref());
  }

  const regularly = (ms: number, what: string, task: () => Promise<void>) =>
    setInterval(() => task().catch((err) => log.warn({ err }, `${what} failed`)), ms);
  const intervals = [
    regularly(leaseMs / 4, "A heartbeat", () => beat(pool, worker, leaseMs)),
    regularly(TIDY_MS, "Tidying run slots", () => tidy(pool, worker, atWork)),
  ];
  const clearIntervals = () => intervals.forEach(clearInterval);
  queue = await startQueue({
    pool,
    log,
    concurrency,
    stopMs,
    tasks: flows.map((flow) => ({
      name: flow.event.name,
      async work(payload, job) {
        atWork.add(job.id);
        // The payload was written by `capstan_wake` or `capstan_end_turn`.
        await work(flow, payload as Payload, job).finally(() => atWork.delete(job.id));
      },
    })),
    async newName() {
      worker = `worker-${ulid()}`;
      await beat(pool, worker, leaseMs);
      return worker;
    },
  }).catch((error) => {
    clearIntervals();
    throw error;
  });

  async function stop(): Promise<void> {
    stopping.abort();
    for (const timer of timers) clearTimeout(timer);
    await queue?.stop();
    clearIntervals();
    await leave(pool, worker);
  }
  let stopped: Promise<void> | undefined;
  return {
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The default pause before a retry: 15 s, doubling up to an hour, plus up to 30 % of jitter. */
function defaultBackoffMs(retry: number): number {
  return Math.min(15_000 * 2 ** (retry - 1), HOUR_MS) * (1 + Math.random() * 0.3);
}

/** Runs a flow until it ends (null), or gives up its turn for the returned number of milliseconds. */
function drive(flow: Flow, { key, payload }: RunWake, stopping: AbortSignal): Promise<number | null> {
  return new Promise((resolve, reject) => {
    // A run that gives up its turn waits here forever and starts again from its rows, so no `catch` of a flow sees it.
    const leave = (ms: number) => {
      resolve(ms);
      return new Promise<never>(() => {});
    };
    const step: Step = {
      runId: key,
      run: (_id, work) => (stopping.aborted ? leave(0) : work()),
      async sleep(_id, ms) {
        if (ms > SHORT_MS) return leave(ms);
        await pause(Math.max(ms, 0), undefined, { signal: stopping }).catch(() => leave(0));
      },
    };
    flow.run(systemCtx(flow.id), payload.data as never, step).then(() => resolve(null), reject);
  });
}

async function repeated<T>(work: () => Promise<T>, log: QueueLog): Promise<T> {
  for (const ms of REPEAT_AFTER_MS) {
    try {
      return await work();
    } catch (err) {
      log.warn({ err, afterMs: ms }, "A turn failed and is repeated");
      await pause(ms);
    }
  }
  return work();
}

const takingTurn = statement("engine-take-turn", {
  params: { wake: jsonb<Json>() },
  row: { taken: present(bool, "the function always returns a value") },
  sql: `SELECT capstan_take_turn($wake) AS taken`,
  prepared: true,
});

async function takeTurn(pool: Pool, wake: RunWake): Promise<boolean> {
  const found = await takingTurn.first(pool, { wake });
  return found!.taken; // the function returns one row
}

const endingTurn = statement("engine-end-turn", {
  params: { wake: jsonb<Json>(), afterMs: maybe(column<number>("float8")) },
  row: { capstan_end_turn: nothing },
  sql: `SELECT capstan_end_turn($wake, $afterMs)`,
  prepared: true,
});

async function endTurn(pool: Pool, wake: RunWake, afterMs: number | null): Promise<void> {
  await endingTurn.run(pool, { wake, afterMs });
}

const tidying = statement("engine.tidy", {
  params: { worker: text, atWork: list<string>("int8[]") },
  row: { capstan_tidy_turns: nothing },
  sql: `SELECT capstan_tidy_turns($worker, $atWork)`,
});

async function tidy(pool: Pool, worker: string, atWork: Set<string>): Promise<void> {
  await tidying.run(pool, { worker, atWork: [...atWork] });
}

const beating = statement("engine-beat", {
  params: { worker: engineWorker.id, leaseMs: column<number>("float8") },
  row: { force_unlock_workers: nothing },
  sql: `WITH mine AS (
        INSERT INTO engine_worker (id, beat_at) VALUES ($worker, now()) ON CONFLICT (id) DO UPDATE SET beat_at = now()
      ), dead AS (
        SELECT id FROM engine_worker WHERE id <> $worker AND beat_at < now() - $leaseMs * interval '1 millisecond'
      ), forgotten AS (
        -- After a minute: until then, a statement of a dead worker may still take jobs in its name.
        DELETE FROM engine_worker WHERE id <> $worker AND beat_at < now() - $leaseMs * interval '1 millisecond' - interval '1 minute'
      )
      SELECT graphile_worker.force_unlock_workers(array_agg(id)) FROM dead HAVING count(*) > 0`,
  prepared: true,
});

/** Reports that this worker is alive, and frees the jobs of workers that have been silent for the lease. */
async function beat(pool: Pool, worker: string, leaseMs: number): Promise<void> {
  await beating.run(pool, { worker, leaseMs });
}

const unlocking = statement("engine.unlock.worker", {
  params: { worker: text },
  row: { force_unlock_workers: nothing },
  sql: `SELECT graphile_worker.force_unlock_workers(ARRAY[$worker])`,
});

const removeWorker = statement("engine_worker.delete.stopped", {
  params: { worker: text },
  sql: `DELETE FROM engine_worker WHERE id = $worker`,
});

/** Frees the jobs that this worker still holds, and removes it from the table. */
async function leave(pool: Pool, worker: string): Promise<void> {
  await unlocking.run(pool, { worker });
  await removeWorker.run(pool, { worker });
}
