import { limitByPlan, limitInSql } from "@/server/domain/plans";
import { notHeld } from "@/server/domain/restores";
import { pool } from "@/server/platform/db";
import { resendDue } from "../admission/dispatch";

// Places under a plan's concurrentDurableJobs, which the claim checks. The engine's turns are another limit (run_slot).
// What is left of each organization is taken from a list: joined row by row, ten thousand that wait were met ten thousand
// times each, as the planner takes rows that wait for few.
const MAKE_DUE = `WITH waiting AS MATERIALIZED (
    SELECT organization_id, array_agg(id ORDER BY id) AS ids FROM job
    WHERE (dispatch_state = 'pending') IS TRUE AND status = 'queued' AND dispatch_after > $1
      AND ($2::text IS NULL OR project_id = $2) AND ${notHeld("jobs")}
    GROUP BY organization_id
  ), turns AS MATERIALIZED (
    SELECT unnest(ids[:${limitInSql("concurrentDurableJobs", "$3::jsonb")} - capstan_running(organization.id)]) AS id
    FROM waiting JOIN organization ON organization.id = waiting.organization_id
    WHERE $3::jsonb IS NOT NULL OR organization.settings->'limits' ? 'concurrentDurableJobs'
  )
  UPDATE job SET dispatch_after = $1
  WHERE id = ANY(ARRAY(SELECT id FROM turns)) AND status = 'queued' AND dispatch_state = 'pending'`;

/** The statement of `makeTurnsDue`. */
export function turnsDue(now: Date, projectId: string | null) {
  const byPlan = limitByPlan("concurrentDurableJobs");
  return { text: MAKE_DUE, values: [now, projectId, byPlan && JSON.stringify(byPlan)] };
}

/**
 * Jobs that were woken while as many ran as their plan allows: as many of the oldest as have room now are due at once,
 * instead of when their wakes have backed off. Nothing where no plan bounds how many run.
 */
export async function makeTurnsDue(now: Date, projectId: string | null): Promise<void> {
  await pool.query(turnsDue(now, projectId));
}

/** A job of a bounded organization has ended: wakes the jobs that wait for its place. */
export async function promoteQueued(now: Date): Promise<void> {
  await makeTurnsDue(now, null);
  await resendDue(now, null);
}
