import { limitByPlan, limitInSql } from "@/server/domain/plans";
import { notHeld } from "@/server/domain/restores";
import { pool } from "@/server/platform/db";
import { resendDue } from "../admission/dispatch";

// The places are those of a plan's concurrentDurableJobs, which the claim checks; the engine's turns are
// another limit (run_slot). Each organization's jobs are taken from an array, because the planner expects few
// waiting jobs: joined row by row, ten thousand of them were visited ten thousand times each.
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
 * Makes waiting jobs due at once, instead of after the backoff of their wakes: as many of an organization's
 * oldest as its plan has room for now. Does nothing if no plan limits running jobs.
 */
export async function makeTurnsDue(now: Date, projectId: string | null): Promise<void> {
  await pool.query(turnsDue(now, projectId));
}

/** Wakes the jobs that wait for room, after a job of an organization with a limit has ended. */
export async function promoteQueued(now: Date): Promise<void> {
  await makeTurnsDue(now, null);
  await resendDue(now, null);
}
