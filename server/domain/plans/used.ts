import type { PlanList } from "@/server/contract/billing";
import { pool, type Queryable } from "@/server/db";

/** How much of each limit an organization uses now. */
export async function usedOf(
  organizationId: string,
  now: Date,
  database: Queryable = pool,
): Promise<PlanList["used"]> {
  const { rows } = await database.query<PlanList["used"]>(
    `SELECT
       (SELECT count(*)::int FROM capstan_seats($1, $2)) AS users,
       (SELECT count(*)::int FROM project WHERE organization_id = $1 AND status = 'active') AS projects,
       (SELECT count(*)::int FROM api_key WHERE organization_id = $1 AND revoked_at IS NULL AND replaced_by IS NULL
          AND (expires_at IS NULL OR expires_at > $2)) AS "apiKeys",
       capstan_running($1) AS "concurrentDurableJobs", capstan_active($1) AS "activeDurableJobs",
       coalesce((SELECT count FROM inference_hour WHERE organization_id = $1 AND hour = date_trunc('hour', $2::timestamptz)), 0)
         AS "lightweightInferencesPerHour"`,
    [organizationId, now],
  );
  return rows[0]!; // a SELECT without FROM has one row
}
