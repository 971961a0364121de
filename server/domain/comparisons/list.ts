import type { ComparisonPage, ListComparisons } from "@/server/contract/comparisons";
import { pool } from "@/server/db";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { ValidationFault } from "@/server/errors";
import { idSchema } from "@/server/ids";
import { type LineRow, toLine } from "./rows";

const Cursor = idSchema("comparison");

/** The comparisons of a project, newest first, by keyset: ids sort by time. */
export async function list(
  ctx: Ctx,
  projectId: string,
  { cursor, limit }: ListComparisons,
): Promise<ComparisonPage> {
  const project = await access.project(ctx, projectId, "jobs:read");
  if (cursor !== undefined && !Cursor.safeParse(cursor).success)
    throw new ValidationFault([
      { loc: ["query", "cursor"], msg: "This is not a cursor of this list.", type: "value_error" },
    ]);
  const { rows } = await pool.query<LineRow>({
    name: "list-comparisons",
    text: `SELECT id, capability_key, intent, created_at, decision, ARRAY(
         SELECT job.status::text FROM comparison_entry entry JOIN job ON job.id = entry.job_id
         WHERE entry.comparison_id = comparison.id ORDER BY position) AS statuses
       FROM comparison WHERE project_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    values: [project.id, cursor ?? null, limit + 1],
  });
  const page = rows.slice(0, limit);
  return { items: page.map(toLine), nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
