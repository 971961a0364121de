import { pool } from "@/server/db";
import { leaseKeeper } from "@/server/domain/executions";

/** The leases of pinned executions, renewed in one statement. */
export const pinLeases = leaseKeeper(async (claimed, until) => {
  const { rows } = await pool.query<{ id: string }>(
    `WITH mine AS MATERIALIZED (
       SELECT pinned.id FROM pinned_execution pinned JOIN unnest($1::text[], $2::int[]) AS asked(id, fence)
         ON pinned.id = asked.id AND pinned.fence = asked.fence
       WHERE status = 'running' ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
     )
     UPDATE pinned_execution SET lease_until = greatest(lease_until, $3) FROM mine WHERE pinned_execution.id = mine.id
     RETURNING pinned_execution.id`,
    [claimed.map(({ id }) => id), claimed.map(({ fence }) => fence), until],
  );
  return new Map(rows.map(({ id }) => [id, "held"]));
});
