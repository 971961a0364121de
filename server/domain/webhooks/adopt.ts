import type { Pool, PoolClient } from "pg";
import type { Ctx } from "@/server/domain/ctx";
import { deliveryEndpoint, job } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { PREFIXES, ulidAt } from "@/server/platform/ids";
import { maybe, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const followUnderWay = statement("job.follow.under-way", {
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
 * Jobs admitted while their organization had no endpoint are not followed by the fan-out. With its `first` endpoint
 * those that are under way are followed from their next event on, and those admitted since then from their first.
 */
export async function adoptJobs(db: Pool | PoolClient, organizationId: string, first: Date): Promise<void> {
  await followUnderWay.run(db, { organizationId, first });
  await followAdmitted.run(db, {
    organizationId,
    since: `${PREFIXES.job}_${ulidAt(first.getTime())}`,
    first,
  });
}

/** How long after an endpoint was made admissions may still commit that did not see it. */
const RACE_MS = 30_000;

const firstEndpoints = statement("endpoint.read.first-after", {
  params: { after: timestamptz, projectId: maybe(text) },
  row: {
    organization_id: deliveryEndpoint.organization_id,
    first: present(timestamptz, "a group has rows, and each has this time"),
  },
  sql: `SELECT organization_id, min(created_at) AS first FROM delivery_endpoint WHERE ($projectId::text IS NULL OR project_id = $projectId)
     GROUP BY organization_id HAVING min(created_at) > $after`,
});

/**
 * An admission and the first endpoint of its organization may commit at the same moment without seeing each other; the
 * passes of the next seconds make that good. Costs one look at a small table while no endpoint is new.
 */
export async function adoptLate(ctx: Ctx, projectId: string | null): Promise<void> {
  const rows = await firstEndpoints.all(pool, {
    after: new Date(ctx.now().getTime() - RACE_MS),
    projectId,
  });
  for (const { organization_id, first } of rows) await adoptJobs(pool, organization_id, first);
}
