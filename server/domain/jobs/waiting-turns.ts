import { pool } from "@/server/db";
import { limitByPlan, limitInSql } from "@/server/domain/plans";
import { resendDue } from "./dispatch";

/**
 * Jobs that were woken while as many ran as their plan allows: as many of the oldest as have room now are due at once,
 * instead of when their wakes have backed off. Nothing where no plan bounds how many run.
 */
export async function makeTurnsDue(now: Date, projectId: string | null): Promise<void> {
  const byPlan = limitByPlan("concurrentDurableJobs");
  await pool.query(
    `WITH waiting AS MATERIALIZED (
       SELECT id, organization_id, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS place FROM job
       WHERE dispatch_state = 'pending' AND status = 'queued' AND dispatch_after > $1
         AND ($2::text IS NULL OR project_id = $2)
     ), room AS MATERIALIZED (
       SELECT organization.id, ${limitInSql("concurrentDurableJobs", "$3::jsonb")} - capstan_running(organization.id) AS room
       FROM organization WHERE organization.id IN (SELECT organization_id FROM waiting)
         AND ($3::jsonb IS NOT NULL OR organization.settings->'limits' ? 'concurrentDurableJobs')
     )
     UPDATE job SET dispatch_after = $1 FROM waiting JOIN room ON room.id = waiting.organization_id
     WHERE job.id = waiting.id AND place <= room AND job.status = 'queued' AND job.dispatch_state = 'pending'`,
    [now, projectId, byPlan && JSON.stringify(byPlan)],
  );
}

/** A job of a bounded organization has ended: whoever waits for its place is woken. */
export async function wakeNext(now: Date): Promise<void> {
  await makeTurnsDue(now, null);
  await resendDue(now, null);
}
