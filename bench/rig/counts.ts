import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";

/**
 * Requests of a round, by the first part of their keys. Their rows are looked for afterwards: a number whose rows are missing is
 * void.
 */
export type Sent = { keys: string; answered: number; connections: number };

/** Selects the executions of one round, and counts their rows in each table. */
const MINE = `WITH mine AS MATERIALIZED (
  SELECT id, status, operation, last_event FROM job WHERE idempotency_key LIKE $1 || '%'
), told AS (
  SELECT job_id, count(*) AS noted, max(job_event.id) AS newest FROM job_event JOIN mine ON mine.id = job_id GROUP BY job_id
), kept AS (
  SELECT job_id, count(*) AS payloads FROM payload JOIN mine ON mine.id = job_id GROUP BY job_id
), tried AS (
  SELECT job_id, count(*) AS attempts FROM attempt JOIN mine ON mine.id = job_id WHERE submission = 'attempted' GROUP BY job_id
), posted AS (
  SELECT job_id, count(*) AS entries, sum(amount_micros) AS total FROM ledger_entry JOIN mine ON mine.id = job_id GROUP BY job_id
)`;
const TABLES = `FROM mine
  LEFT JOIN told ON told.job_id = mine.id LEFT JOIN kept ON kept.job_id = mine.id
  LEFT JOIN tried ON tried.job_id = mine.id LEFT JOIN posted ON posted.job_id = mine.id
  LEFT JOIN receipt ON receipt.job_id = mine.id LEFT JOIN hold ON hold.execution_id = mine.id`;

const FINISHED = `${MINE} SELECT count(*)::int AS jobs,
  count(*) FILTER (WHERE status = 'succeeded' AND operation = $2)::int AS "end",
  count(receipt.id)::int AS receipt,
  count(*) FILTER (WHERE attempts = 1)::int AS attempt,
  count(*) FILTER (WHERE payloads = 2)::int AS payloads,
  count(*) FILTER (WHERE noted = mine.last_event AND newest = mine.last_event)::int AS events,
  count(*) FILTER (WHERE hold.state = 'settled')::int AS hold,
  count(*) FILTER (WHERE entries > 1 AND total = 0)::int AS "ledger entries" ${TABLES}`;

const ADMITTED = `${MINE} SELECT count(*)::int AS jobs,
  count(*) FILTER (WHERE status = 'queued' AND operation = $2)::int AS place,
  count(*) FILTER (WHERE payloads = 1)::int AS payload,
  count(*) FILTER (WHERE noted = 1 AND newest = 1)::int AS event,
  count(*) FILTER (WHERE hold.state = 'open')::int AS hold ${TABLES}`;

/** Waits until no invoke is running, for at most 20 s, and lists what is missing from the executions of these rounds. */
export async function missesOfFinished(
  database: Pool,
  sent: Sent[],
  operation: "invoke" | "jobs",
): Promise<string[]> {
  await untilNone(database, "SELECT FROM job WHERE operation = 'invoke' AND status = 'running' LIMIT 1");
  return misses(database, sent, FINISHED, operation);
}

/** Lists what is missing from jobs that were accepted and wait. */
export function missesOfAdmitted(database: Pool, sent: Sent[]): Promise<string[]> {
  return misses(database, sent, ADMITTED, "jobs");
}

async function misses(database: Pool, sent: Sent[], sql: string, operation: string): Promise<string[]> {
  const found: string[] = [];
  for (const { keys, answered, connections } of sent) {
    const { rows } = await database.query<Record<string, number>>(sql, [keys, operation]);
    const { jobs = 0, ...parts } = rows[0] ?? {};
    // A request that was under way when the round was cut may have been written, but was not counted as answered.
    if (jobs < answered || jobs > answered + connections)
      found.push(`${keys}: ${answered} answers, ${jobs} executions`);
    for (const [part, count] of Object.entries(parts)) {
      if (count !== jobs) found.push(`${keys}: ${jobs} executions, ${count} of them with their ${part}`);
    }
  }
  return found;
}

async function untilNone(database: Pool, sql: string): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end && ((await database.query(sql)).rowCount ?? 0) > 0) await sleep(50);
}
