import type { PlanList } from "@/server/contract/billing";
import { pool } from "@/server/platform/db";
import { limitsOf, type Settings } from "./limits";

/** How much of each limit an organization uses now. */
export async function usedOf(
  { organizationId, settings }: { organizationId: string; settings: Settings },
  now: Date,
): Promise<PlanList["used"]> {
  const isHourCounted = limitsOf(settings).lightweightInferencesPerHour !== null;
  const { rows } = await pool.query<PlanList["used"]>(
    `SELECT
       (SELECT count(*)::int FROM capstan_seats($1, $2)) AS users,
       (SELECT count(*)::int FROM project WHERE organization_id = $1 AND status = 'active') AS projects,
       (SELECT count(*)::int FROM api_key WHERE organization_id = $1 AND revoked_at IS NULL AND replaced_by IS NULL
          AND (expires_at IS NULL OR expires_at > $2)) AS "apiKeys",
       capstan_running($1) AS "concurrentDurableJobs", capstan_active($1) AS "activeDurableJobs",
       CASE WHEN $3 THEN coalesce((SELECT count FROM inference_hour
         WHERE organization_id = $1 AND hour = date_trunc('hour', $2::timestamptz, 'UTC')), 0) END AS "lightweightInferencesPerHour"`,
    [organizationId, now, isHourCounted],
  );
  return rows[0]!; // a SELECT without FROM has one row
}
