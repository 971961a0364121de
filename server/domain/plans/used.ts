import type { PlanList } from "@/server/contract/billing";
import { pool } from "@/server/platform/db";
import { limitsOf, type Settings } from "./limits";

type Used = PlanList["used"];
type Organization = { organizationId: string; settings: Settings };

/** How much of each limit an organization uses now. */
export async function usedOf(organization: Organization, now: Date): Promise<Used> {
  return (await usedOfEach([organization], now)).get(organization.organizationId)!; // one of one
}

/** The same of each of these organizations, in one statement. */
export async function usedOfEach(organizations: Organization[], now: Date): Promise<Map<string, Used>> {
  const { rows } = await pool.query<Used & { organizationId: string }>(
    `SELECT asked.id AS "organizationId",
       (SELECT count(*)::int FROM capstan_seats(asked.id, $3)) AS users,
       (SELECT count(*)::int FROM project WHERE organization_id = asked.id AND status = 'active') AS projects,
       (SELECT count(*)::int FROM api_key WHERE organization_id = asked.id AND revoked_at IS NULL AND replaced_by IS NULL
          AND (expires_at IS NULL OR expires_at > $3)) AS "apiKeys",
       capstan_running(asked.id) AS "concurrentDurableJobs", capstan_active(asked.id) AS "activeDurableJobs",
       CASE WHEN asked.is_hour_counted THEN coalesce((SELECT count FROM inference_hour
         WHERE organization_id = asked.id AND hour = date_trunc('hour', $3::timestamptz, 'UTC')), 0) END AS "lightweightInferencesPerHour"
     FROM unnest($1::text[], $2::boolean[]) AS asked(id, is_hour_counted)`,
    [
      organizations.map(({ organizationId }) => organizationId),
      organizations.map(({ settings }) => limitsOf(settings).lightweightInferencesPerHour !== null),
      now,
    ],
  );
  return new Map(rows.map(({ organizationId, ...used }) => [organizationId, used]));
}
