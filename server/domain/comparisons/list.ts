import type { ComparisonPage, ListComparisons } from "@/server/contract/comparisons";
import { type JobStatus, TERMINAL } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { comparison } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { bool, column, int8, maybe, pick, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { toComparisonLine } from "./rows";

const listRows = statement("comparison.list", {
  params: {
    projectId: text,
    before: maybe(text),
    limit: int8,
    status: maybe(text),
    capabilityKey: maybe(text),
    judged: maybe(bool),
    terminal: texts,
    environment: maybe(text),
  },
  row: {
    ...pick(comparison, "id capability_key intent created_at decision"),
    statuses: present(column<JobStatus[]>("text[]"), "a comparison is written with its entries"),
  },
  sql: `SELECT id, capability_key, intent, created_at, decision, statuses
       FROM comparison, LATERAL (SELECT array_agg(job.status::text ORDER BY position) AS statuses,
         CASE WHEN NOT bool_and(job.status::text = ANY($terminal)) THEN 'running'
           WHEN bool_and(job.status = 'succeeded') THEN 'completed'
           WHEN bool_or(job.status = 'succeeded') THEN 'partial' ELSE 'failed' END AS status
         FROM comparison_entry entry JOIN job ON job.id = entry.job_id
         WHERE entry.comparison_id = comparison.id) AS entries
       WHERE project_id = $projectId AND ($before::text IS NULL OR id < $before) AND ($environment::text IS NULL OR environment = $environment)
         AND ($status::text IS NULL OR entries.status = $status) AND ($capabilityKey::text IS NULL OR capability_key = $capabilityKey)
         AND ($judged::boolean IS NULL OR (decision IS NOT NULL) = $judged)
       ORDER BY id DESC LIMIT $limit`,
  prepared: true,
});

/** Lists the comparisons of a project, newest first, with the id as cursor because ids sort by time. */
export async function list(
  ctx: Ctx,
  projectId: string,
  { cursor, limit, status, capabilityKey, judged }: ListComparisons,
): Promise<ComparisonPage> {
  const project = await access.authorize(ctx, "jobs:read", { projectId });
  const rows = await listRows.all(pool, {
    projectId: project.id,
    before: readCursor("comparison", cursor),
    limit: limit + 1,
    status: status ?? null,
    capabilityKey: capabilityKey ?? null,
    judged: judged ?? null,
    terminal: [...TERMINAL],
    environment: access.authorize(ctx, "jobs:read", "rows").environment,
  });
  return nullEndedPageOf(rows, limit, toComparisonLine);
}
