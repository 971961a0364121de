import type { PlanList } from "@/server/contract/billing";
import { pool } from "@/server/platform/db";
import { column, int4, maybe, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { limitsOf, type Settings } from "./limits";

type Used = PlanList["used"];
type Organization = { organizationId: string; settings: Settings };

/**
 * Returns an organization's current usage of the limits that are counted per organization. Hourly executions
 * are null without a limit.
 */
export async function usedOf(organization: Organization, now: Date): Promise<Used> {
  return (await usedOfEach([organization], now)).get(organization.organizationId)!; // the map has the one requested id
}

const readUsed = statement("organization.read.used", {
  params: { organizationIds: texts, areHoursCounted: column<boolean[]>("bool[]"), now: timestamptz },
  row: {
    organizationId: present(text, "an id of the list, which holds no null"),
    users: int4,
    projects: int4,
    apiKeys: int4,
    concurrentDurableJobs: present(int4, "a count"),
    activeDurableJobs: present(int4, "a count"),
    lightweightInferencesPerHour: maybe(int4),
  },
  sql: `SELECT asked.id AS "organizationId",
       (SELECT count(*)::int FROM capstan_seats(asked.id, $now)) AS users,
       (SELECT count(*)::int FROM project WHERE organization_id = asked.id AND status = 'active') AS projects,
       (SELECT count(*)::int FROM api_key WHERE organization_id = asked.id AND revoked_at IS NULL AND replaced_by IS NULL
          AND (expires_at IS NULL OR expires_at > $now)) AS "apiKeys",
       capstan_running(asked.id) AS "concurrentDurableJobs", capstan_active(asked.id) AS "activeDurableJobs",
       CASE WHEN asked.is_hour_counted THEN coalesce((SELECT count FROM inference_hour
         WHERE organization_id = asked.id AND hour = date_trunc('hour', $now::timestamptz, 'UTC')), 0) END AS "lightweightInferencesPerHour"
     FROM unnest($organizationIds::text[], $areHoursCounted::boolean[]) AS asked(id, is_hour_counted)`,
});

/** Returns the current usage of several organizations, in one statement. */
export async function usedOfEach(organizations: Organization[], now: Date): Promise<Map<string, Used>> {
  const rows = await readUsed.all(pool, {
    organizationIds: organizations.map(({ organizationId }) => organizationId),
    areHoursCounted: organizations.map(
      ({ settings }) => limitsOf(settings).lightweightInferencesPerHour !== null,
    ),
    now,
  });
  return new Map(rows.map(({ organizationId, ...used }) => [organizationId, used]));
}
