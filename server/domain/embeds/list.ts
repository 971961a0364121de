import type { EmbedSessionPage, ListEmbedSessions } from "@/server/contract/embeds";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { LOOK } from "./definitions";
import { readSessions, toSession } from "./rows";

const STATUS =
  "CASE WHEN s.revoked_at IS NOT NULL THEN 'revoked' WHEN s.expires_at <= $5 THEN 'expired' ELSE 'active' END";

/** Sessions of a project, newest first. */
export async function listSessions(
  ctx: Ctx,
  projectId: string,
  query: ListEmbedSessions,
): Promise<EmbedSessionPage> {
  const project = await access.authorize(ctx, LOOK, { projectId });
  const now = ctx.now();
  const rows = await readSessions(
    pool,
    `s.project_id = $1 AND ($2::text IS NULL OR v.definition_id = $2) AND ($3::text IS NULL OR s.external_subject = $3)
     AND ($4::text IS NULL OR ${STATUS} = $4) AND ($6::text IS NULL OR s.id < $6) ORDER BY s.id DESC LIMIT $7`,
    [
      project.id,
      query.definition_id ?? null,
      query.external_subject ?? null,
      query.status ?? null,
      now,
      readCursor("panelSession", query.cursor),
      query.limit + 1,
    ],
  );
  return pageOf(rows, query.limit, (row) => toSession(row, now));
}
