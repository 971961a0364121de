import type { EmbedSessionPage, ListEmbedSessions } from "@/server/contract/embeds";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { int8, maybe, text, timestamptz } from "@/server/sql/column";
import { LOOK } from "./definitions";
import { sessionsWhere, toSession } from "./rows";

const STATUS =
  "CASE WHEN s.revoked_at IS NOT NULL THEN 'revoked' WHEN s.expires_at <= $now THEN 'expired' ELSE 'active' END";

const listOfProject = sessionsWhere(
  "embed_session.list.project",
  {
    projectId: text,
    definitionId: maybe(text),
    externalSubject: maybe(text),
    status: maybe(text),
    now: timestamptz,
    after: maybe(text),
    limit: int8,
  },
  `s.project_id = $projectId AND ($definitionId::text IS NULL OR v.definition_id = $definitionId)
   AND ($externalSubject::text IS NULL OR s.external_subject = $externalSubject)
   AND ($status::text IS NULL OR ${STATUS} = $status) AND ($after::text IS NULL OR s.id < $after)
   ORDER BY s.id DESC LIMIT $limit`,
);

/** Sessions of a project, newest first. */
export async function listSessions(
  ctx: Ctx,
  projectId: string,
  query: ListEmbedSessions,
): Promise<EmbedSessionPage> {
  const project = await access.authorize(ctx, LOOK, { projectId });
  const now = ctx.now();
  const rows = await listOfProject.all(pool, {
    projectId: project.id,
    definitionId: query.definition_id,
    externalSubject: query.external_subject,
    status: query.status,
    now,
    after: readCursor("panelSession", query.cursor),
    limit: query.limit + 1,
  });
  return toPage(rows, query.limit, (row) => toSession(row, now));
}
