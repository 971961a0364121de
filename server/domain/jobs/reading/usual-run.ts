import type { UsualRun } from "@/server/contract/jobs";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { findJob } from "../rows";

/** The most runs to compare, and the most earlier jobs to search for them. */
const RUNS = 20;
const LOOKED_THROUGH = 200;
/** Fewer runs do not predict the next. */
const LEAST_RUNS = 3;

/**
 * The median duration of the project's earlier successful runs of this capability on the same route. Null if
 * too few are known, or if the job is blind and so its route and duration are hidden.
 */
export async function usualRun(ctx: Ctx, jobId: string): Promise<UsualRun | null> {
  const job = await findJob(ctx, jobId);
  if (job.is_blind) return null;
  const { rows } = await pool.query<UsualRun>({
    name: "usual-run",
    text: `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS "medianMs", count(*)::int4 AS runs FROM (
        SELECT extract(epoch FROM completed_at - started_at)::float8 * 1000 AS ms FROM (
          SELECT id, status, provider, model, is_blind, started_at, completed_at FROM job
          WHERE project_id = $1 AND capability_key = $2 AND id < $3 ORDER BY id DESC LIMIT ${LOOKED_THROUGH}
        ) earlier
        WHERE status = 'succeeded' AND provider = $4 AND model = $5 AND NOT is_blind AND started_at IS NOT NULL
        ORDER BY id DESC LIMIT ${RUNS}
      ) last HAVING count(*) >= ${LEAST_RUNS}`,
    values: [job.project_id, job.capability_key, job.id, job.provider, job.model],
  });
  return rows[0] ?? null;
}
