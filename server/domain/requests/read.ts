import type { z } from "zod";
import type {
  CapabilityRequest,
  ListedRequestPage,
  ListQueue,
  ListRequests,
  QueuePage,
  RequestEvent,
  RequestPage,
  RequestRevision,
} from "@/server/contract/requests";
import { access, isOperator } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import {
  BRIEF,
  findRequest,
  READ,
  REFUND_FAILED,
  type RequestBrief,
  type RevisionRow,
  toListed,
  toRequest,
  toRevision,
  toSummary,
} from "./rows";

/** A request the caller may read, with its current wording and the operator's last message. */
export async function get(ctx: Ctx, requestId: string): Promise<CapabilityRequest> {
  return toRequest(await findRequest(ctx, requestId));
}

/** The requests of a project, or of all that the caller belongs to, newest first. */
export async function list(ctx: Ctx, query: z.output<typeof ListRequests>): Promise<RequestPage> {
  return pageOf(await readPage(ctx, query), query.limit, toSummary);
}

/** The same for the panel, with what becomes of what was paid for them: to programs their states say enough. */
export async function listForPanel(
  ctx: Ctx,
  query: z.output<typeof ListRequests>,
): Promise<ListedRequestPage> {
  return pageOf(await readPage(ctx, query), query.limit, toListed);
}

async function readPage(
  ctx: Ctx,
  { projectId, status, cursor, limit }: z.output<typeof ListRequests>,
): Promise<RequestBrief[]> {
  const scope = projectId
    ? { organizationIds: null, projectId: (await access.authorize(ctx, READ, { projectId })).id }
    : access.authorize(ctx, READ, "rows");
  const { rows } = await pool.query<RequestBrief>(
    `SELECT ${BRIEF}
     WHERE ($1::text[] IS NULL OR request.organization_id = ANY($1)) AND ($2::text IS NULL OR request.project_id = $2)
       AND ($3::text IS NULL OR request.status = $3) AND ($4::text IS NULL OR request.id < $4)
     ORDER BY request.id DESC LIMIT $5`,
    [
      scope.organizationIds,
      scope.projectId,
      status ?? null,
      readCursor("capabilityRequest", cursor),
      limit + 1,
    ],
  );
  return rows;
}

/** The requests of every organization for operators; drafts only where they are asked for, or a refund of theirs failed. */
export async function queue(
  ctx: Ctx,
  { status, refund, order, cursor, limit }: z.output<typeof ListQueue>,
): Promise<QueuePage> {
  access.authorize(ctx, "operator");
  const isOldestFirst = order === "oldest";
  const { rows } = await pool.query<
    RequestBrief & { organization_name: string; project_name: string; has_failed_refund: boolean }
  >(
    `SELECT organization.display_name AS organization_name, project.display_name AS project_name,
       request.id IN (${REFUND_FAILED}) AS has_failed_refund, ${BRIEF}
     JOIN organization ON organization.id = request.organization_id
     JOIN project ON project.id = request.project_id
     WHERE CASE WHEN $1::text IS NOT NULL THEN request.status = $1 ELSE request.status <> 'draft' OR $4::text IS NOT NULL END
       AND ($4::text IS NULL OR request.id IN (${REFUND_FAILED}))
       AND ($2::text IS NULL OR request.id ${isOldestFirst ? ">" : "<"} $2)
     ORDER BY request.id ${isOldestFirst ? "ASC" : "DESC"} LIMIT $3`,
    [status ?? null, readCursor("capabilityRequest", cursor), limit + 1, refund ?? null],
  );
  return pageOf(rows, limit, (row) => ({
    ...toListed(row),
    organizationName: row.organization_name,
    projectName: row.project_name,
    hasFailedRefund: row.has_failed_refund,
  }));
}

/** Every wording of a request, newest first. */
export async function revisions(ctx: Ctx, requestId: string): Promise<RequestRevision[]> {
  const request = await findRequest(ctx, requestId);
  const { rows } = await pool.query<RevisionRow>(
    "SELECT * FROM capability_request_revision WHERE request_id = $1 ORDER BY number DESC",
    [request.id],
  );
  return rows.map(toRevision);
}

/** What happened to a request, oldest first. Who of the operators acted, customers see by id alone. */
export async function events(ctx: Ctx, requestId: string): Promise<RequestEvent[]> {
  const request = await findRequest(ctx, requestId);
  const { rows } = await pool.query<{
    id: string;
    type: RequestEvent["type"];
    actor_id: string;
    actor_kind: string;
    name: string | null;
    payload: RequestEvent["payload"];
    created_at: Date;
  }>(
    `SELECT event.id, event.type, actor_id, actor_kind, payload, event.created_at, coalesce(person.email, key.name) AS name
     FROM capability_request_event event
     LEFT JOIN user_account person ON person.id = event.actor_id AND ($2 OR EXISTS (
       SELECT FROM membership WHERE user_id = person.id AND organization_id = event.organization_id))
     LEFT JOIN api_key key ON key.id = event.actor_id AND key.organization_id = event.organization_id
     WHERE event.request_id = $1 ORDER BY event.id`,
    [request.id, isOperator(ctx)],
  );
  return rows.map((row) => ({
    eventId: row.id,
    type: row.type,
    actorId: row.actor_id,
    actorKind: row.actor_kind,
    actorName: row.name,
    payload: row.payload,
    createdAt: row.created_at.toISOString(),
  }));
}
