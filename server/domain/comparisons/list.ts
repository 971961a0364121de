import type { ComparisonPage, ListComparisons } from "@/server/contract/comparisons";
import { TERMINAL } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { type LineRow, toLine } from "./rows";

/** The comparisons of a project, newest first, by keyset: ids sort by time. */
export async function list(
  ctx: Ctx,
  projectId: string,
  { cursor, limit, status, capabilityKey, judged }: ListComparisons,
): Promise<ComparisonPage> {
  const project = await access.authorize(ctx, "jobs:read", { projectId });
  const { rows } = await pool.query<LineRow>({
    name: "list-comparisons",
    text: `SELECT id, capability_key, intent, created_at, decision, statuses
       FROM comparison, LATERAL (SELECT array_agg(job.status::text ORDER BY position) AS statuses,
         CASE WHEN NOT bool_and(job.status::text = ANY($7)) THEN 'running'
           WHEN bool_and(job.status = 'succeeded') THEN 'completed'
           WHEN bool_or(job.status = 'succeeded') THEN 'partial' ELSE 'failed' END AS status
         FROM comparison_entry entry JOIN job ON job.id = entry.job_id
         WHERE entry.comparison_id = comparison.id) AS entries
       WHERE project_id = $1 AND ($2::text IS NULL OR id < $2) AND ($8::text IS NULL OR environment = $8)
         AND ($4::text IS NULL OR entries.status = $4) AND ($5::text IS NULL OR capability_key = $5)
         AND ($6::boolean IS NULL OR (decision IS NOT NULL) = $6)
       ORDER BY id DESC LIMIT $3`,
    values: [
      project.id,
      readCursor("comparison", cursor),
      limit + 1,
      status ?? null,
      capabilityKey ?? null,
      judged ?? null,
      TERMINAL,
      access.authorize(ctx, "jobs:read", "rows").environment,
    ],
  });
  return nullEndedPageOf(rows, limit, toLine);
}
