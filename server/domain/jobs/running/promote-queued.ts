import { limitByPlan, limitInSql } from "@/server/domain/plans";
import { notHeld } from "@/server/domain/restores";
import { pool, type Queryable } from "@/server/platform/db";
import { jsonb, maybe, pick, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { resendDue } from "../admission/dispatch";

// The limit is a plan's concurrentDurableJobs, which the claim checks; the engine's run slots are another
// limit (run_slot). Each organization's jobs are taken from an array, because the planner expects few waiting
// jobs: joined row by row, ten thousand of them were visited ten thousand times each.
const turnsDue = statement("job.update.turns_due", {
  params: {
    now: timestamptz,
    ...pick(SCOPE, "projectId"),
    byPlan: maybe(jsonb<Record<string, number | null>>()),
  },
  sql: `WITH waiting AS MATERIALIZED (
    SELECT organization_id, array_agg(id ORDER BY id) AS ids FROM job
    WHERE (dispatch_state = 'pending') IS TRUE AND status = 'queued' AND dispatch_after > $now
      AND ${inScope(pick(SCOPE, "projectId"))} AND ${notHeld("jobs")}
    GROUP BY organization_id
  ), turns AS MATERIALIZED (
    SELECT unnest(ids[:${limitInSql("concurrentDurableJobs", "$byPlan::jsonb")} - capstan_running(organization.id)]) AS id
    FROM waiting JOIN organization ON organization.id = waiting.organization_id
    WHERE $byPlan::jsonb IS NOT NULL OR organization.settings->'limits' ? 'concurrentDurableJobs'
  )
  UPDATE job SET dispatch_after = $now
  WHERE id = ANY(ARRAY(SELECT id FROM turns)) AND status = 'queued' AND dispatch_state = 'pending'`,
});

/**
 * Makes waiting jobs due at once, instead of after the backoff of their wakes: as many of an organization's
 * oldest as its plan has room for now. Leaves out organizations without a limit on running jobs.
 */
export const makeTurnsDue = (now: Date, projectId: string | null, db: Queryable = pool): Promise<void> =>
  turnsDue.run(db, { now, projectId, byPlan: limitByPlan("concurrentDurableJobs") });

/** Wakes the jobs that wait for room, after a job of an organization with a limit has ended. */
export async function promoteQueued(now: Date): Promise<void> {
  await makeTurnsDue(now, null);
  await resendDue(now, null);
}
