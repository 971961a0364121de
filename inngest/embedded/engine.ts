import type { Pool } from "pg";
import type { OutgoingEvent } from "@/inngest/client";
import { ulid } from "@/server/ids";
import { type Entry, isCancelled, limitsOf, toCatalog } from "./catalog";
import { accept, type Envelope, type StoredEvent } from "./enqueue";
import { compile, field } from "./expressions";
import { type Queue, type QueueLog, startQueue } from "./queue";
import { drive, type Host } from "./run";
import { type AnyFunction, assertSdk } from "./sdk";
import { SQL_VERSION } from "./sql";
import { type NewRun, type OwnedRun, toStore } from "./store";
import { backoffMs } from "./time";

export type EngineOptions = {
  functions: readonly AnyFunction[];
  /** Shared with the product; keep at least 4 connections for the engine. */
  pool: Pool;
  /** Runs that this process drives at once; waiting runs do not count. */
  concurrency?: number;
  log: QueueLog;
  /** A worker that has not been heard of for so long loses its runs to the others. */
  leaseMs?: number;
  /** How long `stop` lets steps in flight go on. */
  stopMs?: number;
  /** Pause before a retry; attempt 1 is the first retry. */
  backoffMs?: (attempt: number) => number;
  /** How long ended runs are kept, as a Postgres interval. */
  keep?: string;
};

const TIDY_MS = 600_000;
/** How long a full worker keeps a job before it puts it back. */
const ROOM_MS = 500;
const LONGEST_TIMER_MS = 3_600_000;

/**
 * Starts a worker: takes events and wakes from the queue and drives runs of these functions until `stop`, which
 * takes nothing new, lets steps in flight finish, and hands the runs over. Throws when a function uses what the
 * engine does not serve, or when `migrateEngine` has not been run for this version.
 */
export async function startEngine(options: EngineOptions): Promise<{ stop(): Promise<void> }> {
  const { pool, log, concurrency = 100, leaseMs = 6_000, stopMs = 10_000, keep = "24 hours" } = options;
  assertSdk();
  const catalog = toCatalog(options.functions);
  const store = toStore(pool);
  if ((await store.installedVersion()) !== SQL_VERSION) {
    throw new Error("The engine's SQL functions are of another version: run migrateEngine first");
  }

  const worker = `engine-${ulid()}`; // owns runs
  let queueName = worker; // locks jobs
  let queue: Queue | undefined;
  const active = new Map<string, Promise<void>>();
  const dropped = new Set<string>(); // runs we may own without driving them, because an answer was lost
  const timers = new Set<NodeJS.Timeout>();
  const waitingForRoom: (() => void)[] = [];
  let stopping = false;

  const host: Host = {
    store,
    catalog,
    backoffMs: options.backoffMs ?? backoffMs,
    isStopping: () => stopping,
    // Cast: the SDK has normalized these payloads; their data is JSON.
    send: (events) =>
      accept(
        pool,
        events.map(({ id, name, data }) => ({ id, name, data: (data ?? {}) as OutgoingEvent["data"] })),
      ),
    lookAgainIn(ms) {
      if (ms > LONGEST_TIMER_MS) return; // the queue's own polling finds it
      const timer = setTimeout(() => {
        timers.delete(timer);
        queue?.nudge();
      }, ms + 2);
      timers.add(timer.unref());
    },
  };

  function launch(run: OwnedRun, entry: Entry): void {
    dropped.delete(run.id); // an earlier answer was lost, this one was not
    const driving = drive(run, entry, host)
      .catch((error) => {
        log.error({ err: error, runId: run.id, functionId: entry.id }, "A run stopped on an engine error");
        dropped.add(run.id); // the next beat hands it over
      })
      .finally(() => {
        active.delete(run.id);
        for (const resolve of waitingForRoom.splice(0)) resolve();
      });
    active.set(run.id, driving);
  }

  /** Resolves when another run may start here; false when the job had better go to another worker. */
  async function hasRoom(): Promise<boolean> {
    const until = Date.now() + ROOM_MS;
    while (active.size >= concurrency && !stopping && Date.now() < until) {
      await new Promise<void>((resolve) => {
        waitingForRoom.push(resolve);
        setTimeout(resolve, ROOM_MS).unref();
      });
    }
    return active.size < concurrency && !stopping;
  }

  async function onEvent(envelope: Envelope, entries: Entry[]): Promise<void> {
    const { event } = envelope;
    const runs = new Map<string, { entry: Entry; row: NewRun }>();
    for (const entry of entries) {
      const id = ulid();
      const once = entry.idempotency && `key:${entry.id}:${JSON.stringify(entry.idempotency({ event }))}`;
      runs.set(id, {
        entry,
        row: { id, function_id: entry.id, ...limitsOf(entry, event), ...(once && { once }) },
      });
    }
    const { started, open } = await owning([...runs.keys()], () =>
      store.receive(
        worker,
        envelope,
        [...runs.values()].map((run) => run.row),
      ),
    );
    for (const id of started) {
      const { entry } = runs.get(id)!; // only ids that we sent come back
      launch({ id, functionId: entry.id, event, fence: 1, attempt: 0, steps: [] }, entry);
    }
    for (const wait of open) {
      const holds = compile(wait.condition)({ event: wait.event, async: event }) === true;
      if (holds) await store.settle(wait.run, wait.step, event);
    }
    await cancelRuns(event);
  }

  async function cancelRuns(event: StoredEvent): Promise<void> {
    for (const { entry, cancel } of catalog.cancelledBy(event)) {
      const { plain } = cancel;
      const match = plain && { path: plain.event, value: plain.async.reduce<unknown>(field, event) };
      const live = await store.live(entry.id, match);
      const hit = live
        .filter((run) => isCancelled(cancel, event, run.event, run.createdAt))
        .map((run) => run.id);
      if (hit.length > 0) await store.cancel(hit);
    }
  }

  async function onWake(runId: string): Promise<void> {
    const run = await owning([runId], () => store.claim(worker, runId));
    if (!run) return;
    const entry = catalog.byId.get(run.functionId);
    if (entry) return launch(run, entry);
    log.warn({ runId, functionId: run.functionId }, "No function for this run here; left to another worker");
    await store.handOver(run, 5_000);
  }

  /** Runs a statement that may make us the owner of these runs: if its answer is lost, they are handed over. */
  async function owning<T>(ids: string[], statement: () => Promise<T>): Promise<T> {
    try {
      return await statement();
    } catch (error) {
      for (const id of ids) if (!active.has(id)) dropped.add(id);
      throw error;
    }
  }

  async function beat(): Promise<void> {
    try {
      const taken = [...dropped];
      const alive = await store.beat(worker, queueName, leaseMs, taken);
      if (alive === false) log.warn({ worker }, "This worker had been given up as dead");
      for (const id of taken) dropped.delete(id);
    } catch (error) {
      log.warn({ err: error }, "A heartbeat failed");
    }
  }

  const beating = setInterval(beat, leaseMs / 4);
  queue = await startQueue({
    pool,
    log,
    crons: [...catalog.byId.values()].flatMap((entry) =>
      entry.crons.map((cron) => ({ functionId: entry.id, cron })),
    ),
    async register(name) {
      queueName = name;
      await store.beat(worker, name, leaseMs, []);
    },
    tasks: {
      async "engine/event"(envelope) {
        const entries = catalog.triggeredBy(envelope.event);
        if (entries.length === 0 || (await hasRoom())) return onEvent(envelope, entries);
        await pool.query("select engine_send($1)", [JSON.stringify([{ ...envelope, once: undefined }])]);
      },
      async "engine/run"({ run }) {
        if (await hasRoom()) return onWake(run);
        await pool.query("select engine_wake($1, now())", [run]);
      },
      async "engine/cron"({ functionId, cron, _cron }) {
        const entry = catalog.byId.get(functionId);
        if (!entry) throw new Error(`There is no function "${functionId}" here`);
        const occurrence = `${cron}:${_cron.ts}`;
        const event = {
          id: occurrence,
          name: "inngest/scheduled.timer",
          data: { cron },
          ts: Date.parse(_cron.ts),
        };
        await onEvent({ occurrence, event }, [entry]);
      },
    },
  }).catch((error) => {
    clearInterval(beating);
    throw error;
  });
  const tidying = setInterval(
    () => store.tidy(keep).catch((err) => log.warn({ err }, "Tidying failed")),
    TIDY_MS,
  );

  async function stop(): Promise<void> {
    stopping = true;
    for (const timer of timers) clearTimeout(timer);
    for (const resolve of waitingForRoom.splice(0)) resolve();
    await queue?.stop();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, stopMs);
    });
    await Promise.race([Promise.allSettled(active.values()), patience]);
    clearTimeout(timer);
    clearInterval(beating);
    clearInterval(tidying);
    await store.leave(worker); // what is still ours is free for others from here on
  }
  let stopped: Promise<void> | undefined;
  return {
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
