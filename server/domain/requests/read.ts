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
import { readCursor, toPage } from "@/server/domain/paging";
import {
  capabilityRequest,
  capabilityRequestEvent,
  capabilityRequestRevision,
  organization,
  project,
} from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { bool, int8, maybe, names, pick, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope } from "@/server/sql/tenant";
import {
  BRIEF,
  BRIEF_ROW,
  findRequest,
  READ_REQUESTS,
  REFUND_FAILED,
  REQUEST_SCOPE,
  type RequestBrief,
  toRequest,
  toRequestItem,
  toRequestSummary,
  toRevision,
} from "./rows";

/** A request that the caller may read, with its current wording and the operator's last message. */
export async function get(ctx: Ctx, requestId: string): Promise<CapabilityRequest> {
  return toRequest(await findRequest(ctx, requestId));
}

/** The requests of a project, or of all that the caller belongs to, newest first. */
export async function list(ctx: Ctx, query: z.output<typeof ListRequests>): Promise<RequestPage> {
  return toPage(await readPage(ctx, query), query.limit, toRequestSummary);
}

/** The same list for the panel, with the state of each refund; programs need only the statuses. */
export async function listForPanel(
  ctx: Ctx,
  query: z.output<typeof ListRequests>,
): Promise<ListedRequestPage> {
  return toPage(await readPage(ctx, query), query.limit, toRequestItem);
}

const listVisible = statement("capability_request.list.visible", {
  params: {
    ...REQUEST_SCOPE,
    status: maybe(capabilityRequest.status),
    after: maybe(text),
    limit: int8,
  },
  row: BRIEF_ROW,
  sql: `SELECT ${BRIEF}
     WHERE ${inScope(REQUEST_SCOPE, "request")}
       AND ($status::text IS NULL OR request.status = $status) AND ($after::text IS NULL OR request.id < $after)
     ORDER BY request.id DESC LIMIT $limit`,
});

async function readPage(
  ctx: Ctx,
  { projectId, status, cursor, limit }: z.output<typeof ListRequests>,
): Promise<RequestBrief[]> {
  const scope = projectId
    ? { organizationIds: null, projectId: (await access.authorize(ctx, READ_REQUESTS, { projectId })).id }
    : access.authorize(ctx, READ_REQUESTS, "rows");
  return readInScope(listVisible, scope, {
    status,
    after: readCursor("capabilityRequest", cursor),
    limit: limit + 1,
  });
}

const queueStatement = (
  name: string,
  { comesAfter, order }: { comesAfter: "<" | ">"; order: "ASC" | "DESC" },
) =>
  statement(name, {
    params: { status: maybe(capabilityRequest.status), after: maybe(text), limit: int8, refund: maybe(text) },
    row: {
      ...BRIEF_ROW,
      organization_name: organization.display_name,
      project_name: project.display_name,
      has_failed_refund: present(bool, "ids are never null"),
    },
    sql: `SELECT organization.display_name AS organization_name, project.display_name AS project_name,
       request.id IN (${REFUND_FAILED}) AS has_failed_refund, ${BRIEF}
     JOIN organization ON organization.id = request.organization_id
     JOIN project ON project.id = request.project_id
     WHERE CASE WHEN $status::text IS NOT NULL THEN request.status = $status
         ELSE request.status <> 'draft' OR $refund::text IS NOT NULL END
       AND ($refund::text IS NULL OR request.id IN (${REFUND_FAILED}))
       AND ($after::text IS NULL OR request.id ${comesAfter} $after)
     ORDER BY request.id ${order} LIMIT $limit`,
  });
const listOldest = queueStatement("capability_request.list.oldest", { comesAfter: ">", order: "ASC" });
const listNewest = queueStatement("capability_request.list.newest", { comesAfter: "<", order: "DESC" });

/**
 * The requests of every organization, for operators. Drafts are included only if requested by status, or in
 * the list of failed refunds.
 */
export async function queue(
  ctx: Ctx,
  { status, refund, order, cursor, limit }: z.output<typeof ListQueue>,
): Promise<QueuePage> {
  access.authorize(ctx, "operator");
  const rows = await (order === "oldest" ? listOldest : listNewest).all(pool, {
    status,
    after: readCursor("capabilityRequest", cursor),
    limit: limit + 1,
    refund,
  });
  return toPage(rows, limit, (row) => ({
    ...toRequestItem(row),
    organizationName: row.organization_name,
    projectName: row.project_name,
    hasFailedRefund: row.has_failed_refund,
  }));
}

const listRevisions = statement("capability_request_revision.list.request", {
  params: { requestId: text },
  row: capabilityRequestRevision,
  sql: `SELECT ${names(capabilityRequestRevision)} FROM capability_request_revision
    WHERE request_id = $requestId ORDER BY number DESC`,
});

/** Every wording of a request, newest first. */
export async function revisions(ctx: Ctx, requestId: string): Promise<RequestRevision[]> {
  const request = await findRequest(ctx, requestId);
  const rows = await listRevisions.all(pool, { requestId: request.id });
  return rows.map(toRevision);
}

const listEvents = statement("capability_request_event.list.request", {
  params: { requestId: text, isOperator: bool },
  row: {
    ...pick(capabilityRequestEvent, "id type actor_id actor_kind payload created_at"),
    name: maybe(text),
  },
  sql: `SELECT event.id, event.type, actor_id, actor_kind, payload, event.created_at, coalesce(person.email, key.name) AS name
     FROM capability_request_event event
     LEFT JOIN user_account person ON person.id = event.actor_id AND ($isOperator OR EXISTS (
       SELECT FROM membership WHERE user_id = person.id AND organization_id = event.organization_id))
     LEFT JOIN api_key key ON key.id = event.actor_id AND key.organization_id = event.organization_id
     WHERE event.request_id = $requestId ORDER BY event.id`,
});

/**
 * Events of a request, oldest first. An operator who is no member of the organization is shown to customers
 * only by id.
 */
export async function events(ctx: Ctx, requestId: string): Promise<RequestEvent[]> {
  const request = await findRequest(ctx, requestId);
  const rows = await listEvents.all(pool, { requestId: request.id, isOperator: isOperator(ctx) });
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
