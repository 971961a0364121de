import { pool } from "@/server/db";
import { leaseKeeper } from "@/server/domain/executions";

/** The leases of jobs: renewed in one statement; work whose lease is lost or that is to be canceled is stopped. */
export const jobLeases = leaseKeeper(async (claimed, until) => {
  const { rows } = await pool.query<{ id: string; status: string }>(
    // Locked in the order of ids, as every other statement of many jobs does. A lease that covers a wait stays longer.
    `WITH mine AS MATERIALIZED (
       SELECT job.id FROM job JOIN unnest($1::text[], $2::int[]) AS asked(job_id, fence)
         ON job.id = asked.job_id AND job.fence = asked.fence
       WHERE status IN ('running', 'canceling') ORDER BY job.id FOR NO KEY UPDATE OF job
     )
     UPDATE job SET lease_until = greatest(lease_until, $3) FROM mine WHERE job.id = mine.id
     RETURNING job.id, job.status`,
    [claimed.map(({ id }) => id), claimed.map(({ fence }) => fence), until],
  );
  return new Map(rows.map(({ id, status }) => [id, status === "canceling" ? "canceled" : "held"]));
});
