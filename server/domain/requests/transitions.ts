import type { RequestStatus } from "@/server/contract/requests";
import type { RequestEventType } from "@/server/contract/webhooks";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { announce } from "@/server/domain/webhooks";
import { capabilityRequest, capabilityRequestEvent } from "@/server/generated/schema";
import type { Queryable, Transaction } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { names, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { aboutOf, payloadOf } from "./payloads";
import { noSuchRequest, type RequestRow } from "./rows";
import { notifyOfEvent } from "./tell";

/**
 * The moves of a request. `quoted` to `quoted` is a new quote for an expired one; `issueQuote` checks the
 * expiry.
 */
const MOVES = {
  revised: { from: ["draft", "submitted", "in_review", "needs_information", "quoted"], to: "draft" },
  submitted: { from: ["draft"], to: "submitted" },
  in_review: { from: ["submitted"], to: "in_review" },
  needs_information: { from: ["in_review"], to: "needs_information" },
  declined: { from: ["in_review"], to: "declined" },
  quoted: { from: ["in_review", "quoted"], to: "quoted" },
  paid: { from: ["quoted"], to: "paid" },
  fulfilled: { from: ["paid"], to: "fulfilled" },
  refunded: { from: ["paid", "fulfilled"], to: "refunded" },
  refund_failed: {
    from: ["refunded"],
    to: ({ fulfilled_at }: RequestRow) => (fulfilled_at ? "fulfilled" : "paid"),
  },
} as const satisfies Record<
  string,
  { from: readonly RequestStatus[]; to: RequestStatus | ((row: RequestRow) => RequestStatus) }
>;

export type Move = keyof typeof MOVES;

/** True if this move is possible from this status. */
export function canMove(status: RequestStatus, move: Move): boolean {
  const from: readonly RequestStatus[] = MOVES[move].from;
  return from.includes(status);
}

/** Throws RequestStateConflict if this move is not possible for the request. */
export function requireMove(row: Pick<RequestRow, "id" | "status">, move: Move): void {
  if (canMove(row.status, move)) return;
  fail(
    "RequestStateConflict",
    `A request with the status "${words(row.status)}" cannot be ${words(move)}. Read the request again.`,
    {
      requestId: row.id,
      status: row.status,
    },
  );
}

const words = (status: string) => status.replaceAll("_", " ");

const lock = statement("capability_request.lock", {
  params: { requestId: text },
  row: capabilityRequest,
  sql: `SELECT ${names(capabilityRequest)} FROM capability_request WHERE id = $requestId FOR UPDATE`,
});

/** Locks a request until the transaction ends. Every change of a request or its quotes begins with this. */
export async function lockRequest(client: Queryable, requestId: string): Promise<RequestRow> {
  return (await lock.first(client, { requestId })) ?? noSuchRequest();
}

type Change = Partial<
  Pick<RequestRow, "current_revision_id" | "feedback" | "capability_key" | "submitted_at" | "fulfilled_at">
>;

const writeMove = statement("capability_request.update.moved", {
  params: pick(
    capabilityRequest,
    "id status current_revision_id feedback capability_key submitted_at fulfilled_at updated_at",
  ),
  sql: `UPDATE capability_request SET status = $status, current_revision_id = $current_revision_id, feedback = $feedback,
       capability_key = $capability_key, submitted_at = $submitted_at, fulfilled_at = $fulfilled_at,
       updated_at = $updated_at WHERE id = $id`,
});

/**
 * Moves a locked request and reports the move in one transaction; nothing else writes its status. Members
 * left out of `change` stay. The report reads its facts from the rows, so a quote must be written first;
 * `payload` adds facts that only the caller has. RequestStateConflict if the move is not possible.
 */
export async function applyMove(
  client: Transaction,
  ctx: Ctx,
  row: RequestRow,
  {
    how,
    change = {},
    payload = {},
  }: { how: Move; change?: Change | undefined; payload?: Record<string, Json> | undefined },
): Promise<RequestRow> {
  requireMove(row, how);
  const { to } = MOVES[how];
  const status = typeof to === "function" ? to(row) : to;
  const next = { ...row, ...change, status, updated_at: ctx.now() };
  await writeMove.run(client, next);
  await recordRequestEvent(client, ctx, next, { type: `capability_request.${how}`, payload });
  return next;
}

const addEvent = statement("capability_request_event.insert", {
  params: capabilityRequestEvent,
  sql: `INSERT INTO capability_request_event (id, request_id, organization_id, type, actor_id, actor_kind, payload, created_at)
     VALUES ($id, $request_id, $organization_id, $type, $actor_id, $actor_kind, $payload, $created_at)`,
});

/**
 * Records an event of a request for its page, its webhooks, the audit log and the people it concerns. The
 * request's summary and its quote are read from their rows.
 */
export async function recordRequestEvent(
  client: Transaction,
  ctx: Ctx,
  row: RequestRow,
  { type, payload = {} }: { type: RequestEventType; payload?: Record<string, Json> | undefined },
): Promise<void> {
  const about = await aboutOf(client, row);
  const event = {
    id: newId("event"),
    type,
    organizationId: row.organization_id,
    projectId: row.project_id,
    createdAt: ctx.now(),
    payload: { ...payloadOf(type, row, about.quote), ...payload },
  };
  await addEvent.run(client, {
    id: event.id,
    request_id: row.id,
    organization_id: row.organization_id,
    type,
    actor_id: ctx.principal.id,
    actor_kind: ctx.principal.kind,
    payload: event.payload,
    created_at: event.createdAt,
  });
  await record(
    ctx,
    {
      organizationId: row.organization_id,
      projectId: row.project_id,
      action: type,
      subject: row.id,
      details: event.payload,
    },
    client,
  );
  await announce(client, [event], event.createdAt);
  await notifyOfEvent(client, ctx, row, { event, about });
}
