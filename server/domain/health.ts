import { pool } from "@/server/platform/db";
import { column, int8 } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const PATIENCE_MS = 2_000;

/** Returns the answer of a statement, or null if it fails or takes longer than two seconds. */
async function inTime<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS);
  });
  const answer = await Promise.race([asked.catch(() => null), tooLate]);
  clearTimeout(timer);
  return answer;
}

const probeTables = statement("database.probe", { sql: "SELECT FROM api_key LIMIT 1" });

/** True if the database answers within two seconds and has our tables. */
export async function isDatabaseReady(): Promise<boolean> {
  return (await inTime(probeTables.all(pool, {}))) !== null;
}

/** Counts of waiting and running work, over all organizations. */
export type Backlog = {
  queuedJobs: number;
  oldestQueuedSeconds: number;
  runningJobs: number;
  waitingApprovals: number;
  waitingOperator: number;
  runningPins: number;
  openBulks: number;
  openDeliveries: number;
  openMail: number;
  failedMail: number;
  lateTasks: number;
  failedTasks: number;
};

let counting: Promise<Backlog | null> | undefined;

/**
 * Returns the backlog. Simultaneous callers share one count. Returns null if the count fails or takes longer
 * than two seconds.
 */
export function backlog(): Promise<Backlog | null> {
  counting ??= inTime(countBacklog()).finally(() => {
    counting = undefined;
  });
  return counting;
}

const readBacklog = statement("backlog", {
  row: {
    queuedJobs: int8,
    oldestQueuedSeconds: column<number>("float8"),
    runningJobs: int8,
    waitingApprovals: int8,
    waitingOperator: int8,
    runningPins: int8,
    openBulks: int8,
    openDeliveries: int8,
    openMail: int8,
    failedMail: int8,
    lateTasks: int8,
    failedTasks: int8,
  },
  sql: `SELECT queued.count AS "queuedJobs", queued.oldest AS "oldestQueuedSeconds",
        (SELECT count(*) FROM job WHERE completed_at IS NULL AND status IN ('running', 'canceling')) AS "runningJobs",
        (SELECT count(*) FROM job WHERE (status = 'awaiting_approval') IS TRUE) AS "waitingApprovals",
        (SELECT count(*) FROM job WHERE (status = 'needs_attention') IS TRUE) AS "waitingOperator",
        (SELECT count(*) FROM pinned_execution WHERE (status = 'running') IS TRUE) AS "runningPins",
        (SELECT count(*) FROM pinned_bulk WHERE (status IN ('accepted', 'running')) IS TRUE) AS "openBulks",
        (SELECT count(*) FROM delivery WHERE (state IN ('pending', 'delivering')) IS TRUE) AS "openDeliveries",
        (SELECT count(*) FROM mail WHERE state IN ('pending', 'sending')) AS "openMail",
        (SELECT count(*) FROM mail WHERE state = 'failed') AS "failedMail",
        (SELECT count(*) FROM periodic_task WHERE due_at < now() - interval '1 minute') AS "lateTasks",
        (SELECT count(*) FROM periodic_task WHERE outcome = 'failed') AS "failedTasks"
      FROM (SELECT count(*) AS count, coalesce(greatest(extract(epoch FROM now() - min(created_at)), 0), 0)::float8 AS oldest
        FROM job WHERE (status = 'queued') IS TRUE) queued`,
  prepared: true,
});

async function countBacklog(): Promise<Backlog | null> {
  return readBacklog.first(pool, {});
}
