import type { UsualRun } from "@/server/contract/jobs";
import type { Ctx } from "@/server/domain/ctx";
import { job as jobTable } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { column, int4, pick, present } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { findJob } from "../rows";

/** The most runs to compare, and the most earlier jobs to search for them. */
const RUNS = 20;
const LOOKED_THROUGH = 200;
/** Fewer runs do not predict the next. */
const LEAST_RUNS = 3;

const medianOf = statement("job.read.usual_run", {
  params: pick(jobTable, "project_id capability_key id provider model"),
  row: {
    medianMs: present(column<number>("float8"), "a median of at least one run"),
    runs: int4,
  },
  prepared: true,
  sql: `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS "medianMs", count(*)::int4 AS runs FROM (
      SELECT extract(epoch FROM completed_at - started_at)::float8 * 1000 AS ms FROM (
        SELECT id, status, provider, model, is_blind, started_at, completed_at FROM job
        WHERE project_id = $project_id AND capability_key = $capability_key AND id < $id ORDER BY id DESC LIMIT ${LOOKED_THROUGH}
      ) earlier
      WHERE status = 'succeeded' AND provider = $provider AND model = $model AND NOT is_blind AND started_at IS NOT NULL
      ORDER BY id DESC LIMIT ${RUNS}
    ) last HAVING count(*) >= ${LEAST_RUNS}`,
});

/**
 * The median duration of the project's latest successful runs before this job, of the same capability on the
 * same route. Null if too few are known, or if the job is blind and so its route and duration are hidden.
 */
export async function usualRun(ctx: Ctx, jobId: string): Promise<UsualRun | null> {
  const job = await findJob(ctx, jobId);
  if (job.is_blind) return null;
  return medianOf.first(pool, job);
}
