import { setTimeout as pause } from "node:timers/promises";
import { artifactStore } from "@/server/domain/artifacts";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as embeds from "@/server/domain/embeds";
import { LEASE_MS, type Pass } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import * as notifications from "@/server/domain/notifications";
import * as connections from "@/server/domain/onboarding";
import { pruneSignInFailures } from "@/server/domain/organizations";
import * as pins from "@/server/domain/pins";
import * as requests from "@/server/domain/requests";
import { pruneSessions } from "@/server/domain/sessions";
import * as usage from "@/server/domain/usage";
import { periodicTask } from "@/server/generated/schema";
import { relaxedPool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@/server/platform/time/units";
import { bool, list, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

export type PeriodicTask = {
  name: string;
  everyMs: number;
  pass(ctx: Ctx, pass?: Pass): Promise<unknown>;
  /** True if each process runs the task for itself. Otherwise one process at a time runs it for all. */
  isOwn?: true;
};

const SECOND_MS = 1_000;

/**
 * All periodic tasks. Their passes must be safe in several processes at once: a slow pass does not stop another process from
 * starting the next one.
 */
export const PERIODIC_TASKS: readonly PeriodicTask[] = [
  { name: "announce", everyMs: SECOND_MS, pass: (ctx) => jobs.announce(ctx) },
  { name: "sweep-jobs", everyMs: 2 * SECOND_MS, pass: (ctx, pass) => jobs.sweep(ctx, {}, pass) },
  { name: "sweep-pins", everyMs: 2 * SECOND_MS, pass: (ctx, pass) => pins.sweep(ctx, {}, pass) },
  { name: "sweep-requests", everyMs: 2 * SECOND_MS, pass: (ctx) => requests.sweep(ctx) },
  { name: "send-mail", everyMs: 2 * SECOND_MS, pass: (ctx) => notifications.handOnMail(ctx) },
  // Removes content whose retention has ended.
  { name: "prune-content", everyMs: 15 * MINUTE_MS, pass: (ctx) => jobs.prune(ctx) },
  { name: "prune-connections", everyMs: HOUR_MS, pass: (ctx) => connections.prune(ctx) },
  { name: "prune-panels", everyMs: HOUR_MS, pass: (ctx) => embeds.prune(ctx) },
  { name: "prune-notifications", everyMs: HOUR_MS, pass: (ctx) => notifications.prune(ctx) },
  { name: "prune-sessions", everyMs: HOUR_MS, pass: (ctx) => pruneSessions(ctx.now()) },
  { name: "prune-sign-in-failures", everyMs: HOUR_MS, pass: (ctx) => pruneSignInFailures(ctx.now()) },
  // Ends managed holds whose charge stayed unknown.
  { name: "write-off-holds", everyMs: HOUR_MS, pass: (ctx) => jobs.writeOff(ctx) },
  // Counts the usage of days that have ended, and again where a charge was still to come.
  { name: "roll-up-usage", everyMs: HOUR_MS, pass: (ctx) => usage.rollUp(ctx) },
  // Removes the temporary files that unfinished uploads left in the artifact store.
  {
    name: "tidy-artifacts",
    everyMs: HOUR_MS,
    pass: (ctx) => artifactStore().sweepTemporary(new Date(ctx.now().getTime() - DAY_MS)),
  },
];

/** Lag that only a stopped installation or an unresponsive database explains. */
const LATE_MS = 5_000;
/** Poll interval. One statement finds the due tasks, however many there are. */
const ASK_EVERY_MS = 500;

/**
 * Runs tasks until stopped, each once per `everyMs` across all processes: the process that polls first runs
 * the pass. Each process runs its own tasks (`isOwn`) itself. If a process dies in a pass or a pass fails,
 * the next pass makes up for it. `stop` waits for running passes.
 */
export async function startPeriodicTasks(
  tasks: readonly PeriodicTask[] = PERIODIC_TASKS,
): Promise<{ stop(): Promise<void> }> {
  await register(tasks);
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Map<string, Promise<void>>();
  const ownDueAt = new Map(tasks.filter(({ isOwn }) => isOwn).map(({ name }) => [name, 0]));

  async function startDue(): Promise<void> {
    const idle = tasks.filter(({ name }) => !running.has(name));
    const isDue = ({ name }: PeriodicTask) =>
      performance.now() >= (ownDueAt.get(name) ?? Number.POSITIVE_INFINITY);
    const own = idle.filter(isDue);
    for (const { name, everyMs } of own) ownDueAt.set(name, performance.now() + everyMs);
    const shared = await takeDue(
      idle.filter(({ isOwn }) => !isOwn),
      own,
    );
    for (const { task, pass } of [...own.map((task) => ({ task, pass: undefined })), ...shared])
      running.set(
        task.name,
        runTask(task, pass).finally(() => running.delete(task.name)),
      );
  }
  async function loop(): Promise<void> {
    while (!signal.aborted) {
      await pause(ASK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted)
        await startDue().catch((err) => log.error({ err }, "periodic tasks that are due could not be found"));
    }
    await Promise.all(running.values());
  }
  const ended = loop();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** Runs one round of due tasks, for deployments whose processes do not stay up. */
export async function runDueTasks(tasks: readonly PeriodicTask[] = PERIODIC_TASKS): Promise<void> {
  await register(tasks);
  await Promise.all((await takeDue(tasks, [])).map(({ task, pass }) => runTask(task, pass)));
}

const recordOutcome = statement("periodic-task-ended", {
  params: { name: text, outcome: periodicTask.outcome },
  sql: "UPDATE periodic_task SET outcome = $outcome, ended_at = clock_timestamp() WHERE name = $name",
  prepared: true,
});

/** Runs one pass and records its outcome in the task's row. Never throws. */
async function runTask({ name, pass }: PeriodicTask, begun?: Pass): Promise<void> {
  let outcome = "succeeded";
  try {
    await pass(systemCtx(name), begun);
  } catch (err) {
    outcome = "failed";
    log.error({ err, task: name }, "a periodic task failed; its next pass tries again");
  }
  await recordOutcome
    .run(relaxedPool, { name, outcome })
    .catch((err) => log.warn({ err, task: name }, "the outcome of a periodic task was not written"));
}

const saveTasks = statement("periodic_task.save.registered", {
  params: { names: texts, everyMs: list<number>("int4[]") },
  sql: `INSERT INTO periodic_task (name, interval_ms, due_at)
     SELECT name, interval_ms, clock_timestamp() FROM unnest($names::text[], $everyMs::integer[]) AS x(name, interval_ms)
     ON CONFLICT (name) DO UPDATE SET interval_ms = excluded.interval_ms WHERE periodic_task.interval_ms <> excluded.interval_ms`,
});

async function register(tasks: readonly PeriodicTask[]): Promise<void> {
  await saveTasks.run(relaxedPool, {
    names: tasks.map(({ name }) => name),
    everyMs: tasks.map(({ everyMs }) => everyMs),
  });
}

const claimDue = statement("periodic-tasks-due", {
  params: { names: texts, own: texts },
  row: {
    name: periodicTask.name,
    startedAt: present(periodicTask.started_at, "the statement sets it"),
    isLate: bool,
  },
  sql: `WITH due AS (
        SELECT name, greatest(0, extract(epoch FROM clock_timestamp() - due_at) * 1000)::integer AS lag_ms FROM periodic_task
        WHERE name = ANY($own) OR name = ANY($names)
          AND due_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval_ms * interval '1 millisecond'
        FOR UPDATE SKIP LOCKED
      )
      UPDATE periodic_task SET started_at = clock_timestamp(), lag_ms = due.lag_ms, outcome = 'running', ended_at = NULL,
        late_at = CASE WHEN due.lag_ms > ${LATE_MS} THEN clock_timestamp() ELSE late_at END,
        -- Cut, never rounded up: due a part of a millisecond too late would look like a clock that was set back.
        due_at = date_trunc('milliseconds', clock_timestamp()) + interval_ms * interval '1 millisecond'
      FROM due WHERE periodic_task.name = due.name
      RETURNING periodic_task.name, started_at AS "startedAt",
        coalesce(late_at > clock_timestamp() - ${LEASE_MS} * interval '1 millisecond', false) AS "isLate"`,
  prepared: true,
});

/**
 * Claims the due tasks for this process by the database's clock; a clock that was set back makes them due.
 * Also records that passes of the process's own tasks begin, which the caller runs whatever this returns.
 */
async function takeDue(
  tasks: readonly PeriodicTask[],
  own: readonly PeriodicTask[],
): Promise<{ task: PeriodicTask; pass: Pass }[]> {
  const rows = await claimDue.all(relaxedPool, {
    names: tasks.map(({ name }) => name),
    own: own.map(({ name }) => name),
  });
  return tasks.flatMap((task) =>
    rows.filter(({ name }) => name === task.name).map((pass) => ({ task, pass })),
  );
}
