import type { Pool, PoolClient } from "pg";
import type { Ctx } from "@/server/domain/ctx";
import { deliveryEndpoint, job } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { PREFIXES, ulidAt } from "@/server/platform/ids";
import { maybe, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const followUnderWay = statement("job.follow.under_way", {
  params: { organizationId: text, first: job.created_at },
  sql: `UPDATE job SET webhook_event = CASE WHEN created_at >= $first THEN 0 ELSE last_event END
     WHERE project_id IN (SELECT id FROM project WHERE organization_id = $organizationId) AND webhook_event IS NULL
       AND completed_at IS NULL`,
});

const followAdmitted = statement("job.follow.admitted", {
  params: { organizationId: text, since: text, first: job.created_at },
  sql: `UPDATE job SET webhook_event = 0
     WHERE id >= $since AND organization_id = $organizationId AND webhook_event IS NULL AND created_at >= $first`,
});

/**
 * Makes the fan-out follow jobs that were admitted while their organization had no endpoint. `first` is the creation
 * time of its first endpoint: jobs under way at that time are followed from their next event, and jobs admitted since
 * then from their first event.
 */
export async function adoptJobs(db: Pool | PoolClient, organizationId: string, first: Date): Promise<void> {
  await followUnderWay.run(db, { organizationId, first });
  await followAdmitted.run(db, {
    organizationId,
    since: `${PREFIXES.job}_${ulidAt(first.getTime())}`,
    first,
  });
}

/** An admission that did not see a new endpoint may still commit for this long after the endpoint was created. */
const RACE_MS = 30_000;

const firstEndpoints = statement("endpoint.read.first_after", {
  params: { after: timestamptz, projectId: maybe(text) },
  row: {
    organization_id: deliveryEndpoint.organization_id,
    first: present(timestamptz, "a group has rows, and each has this time"),
  },
  sql: `SELECT organization_id, min(created_at) AS first FROM delivery_endpoint WHERE ($projectId::text IS NULL OR project_id = $projectId)
     GROUP BY organization_id HAVING min(created_at) > $after`,
});

/**
 * Adopts the jobs of organizations whose first endpoint is new, since an admission and that endpoint may commit at the
 * same moment without seeing each other. While no endpoint is new, this costs one read of a small table. `projectId`
 * limits it to endpoints of that project.
 */
export async function adoptLate(ctx: Ctx, projectId: string | null): Promise<void> {
  const rows = await firstEndpoints.all(pool, {
    after: new Date(ctx.now().getTime() - RACE_MS),
    projectId,
  });
  for (const { organization_id, first } of rows) await adoptJobs(pool, organization_id, first);
}
