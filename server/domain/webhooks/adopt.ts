import type { Pool, PoolClient } from "pg";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { PREFIXES, ulidAt } from "@/server/platform/ids";

/**
 * Jobs admitted while their organization had no endpoint are not followed by the fan-out. With its `first` endpoint
 * those that are under way are followed from their next event on, and those admitted since then from their first.
 */
export async function adoptJobs(db: Pool | PoolClient, organizationId: string, first: Date): Promise<void> {
  await db.query(
    `UPDATE job SET webhook_event = CASE WHEN created_at >= $2 THEN 0 ELSE last_event END
     WHERE project_id IN (SELECT id FROM project WHERE organization_id = $1) AND webhook_event IS NULL
       AND completed_at IS NULL`,
    [organizationId, first],
  );
  await db.query(
    `UPDATE job SET webhook_event = 0
     WHERE id >= $2 AND organization_id = $1 AND webhook_event IS NULL AND created_at >= $3`,
    [organizationId, `${PREFIXES.job}_${ulidAt(first.getTime())}`, first],
  );
}

/** How long after an endpoint was made admissions may still commit that did not see it. */
const RACE_MS = 30_000;

/**
 * An admission and the first endpoint of its organization may commit at the same moment without seeing each other; the
 * passes of the next seconds make that good. Costs one look at a small table while no endpoint is new.
 */
export async function adoptLate(ctx: Ctx, projectId: string | null): Promise<void> {
  const { rows } = await pool.query<{ organization_id: string; first: Date }>(
    `SELECT organization_id, min(created_at) AS first FROM delivery_endpoint WHERE ($2::text IS NULL OR project_id = $2)
     GROUP BY organization_id HAVING min(created_at) > $1`,
    [new Date(ctx.now().getTime() - RACE_MS), projectId],
  );
  for (const { organization_id, first } of rows) await adoptJobs(pool, organization_id, first);
}
