import type { RefundState } from "@/server/contract/billing";
import {
  type CapabilityRequest,
  type CommissionQuote,
  type CommissionState,
  type ListedRequest,
  REQUEST_VERSION,
  type RequestRevision,
  type RequestStatus,
  type RequestSummary,
} from "@/server/contract/requests";
import { access, EVERYTHING, isOperator, type ReadScope } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { capabilityRequest, capabilityRequestRevision, commissionQuote } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { toMoney } from "@/server/platform/money";
import { publicUrl } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { column, jsonb, maybe, names, type Of, pick, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";

/** How long a commission quote can be paid; published in docs/guides/commission-a-capability.md. */
export const QUOTE_LIFETIME_MS = 14 * DAY_MS;
/** How long after its fulfilment a commission is refunded on request. */
export const ACCEPTANCE_WINDOW_DAYS = 7;

export type RequestRow = Of<typeof capabilityRequest>;
export type RevisionRow = Of<typeof capabilityRequestRevision>;
export type CommissionQuoteRow = Of<typeof commissionQuote>;

/** A request with its current revision and the id of its payable or paid quote. */
export type RequestWhole = RequestRow & { revision: RevisionRow; quote_id: string | null };

/** The columns of a request in lists. */
export const BRIEF_ROW = {
  ...capabilityRequest,
  ...pick(capabilityRequestRevision, "hash number"),
  summary: present(text, "every wording has one, in JSON that the database does not read"),
  quote_id: maybe(commissionQuote.id),
  quote_micros: maybe(commissionQuote.price_micros),
  quote_currency: maybe(commissionQuote.currency),
  quote_expires_at: maybe(commissionQuote.expires_at),
  refund_state: column<RefundState | null>("text", true),
};
export type RequestBrief = Of<typeof BRIEF_ROW>;

const PARTS = `capability_request request
  JOIN capability_request_revision revision ON revision.id = request.current_revision_id
  LEFT JOIN LATERAL (SELECT * FROM commission_quote
    WHERE commission_quote.request_id = request.id AND commission_quote.state IN ('active', 'paid')
    ORDER BY commission_quote.id DESC LIMIT 1) quote ON true`;

const WHOLE = {
  ...capabilityRequest,
  revision: jsonb<Omit<RevisionRow, "created_at"> & { created_at: string }>(), // JSON has no dates
  quote_id: maybe(commissionQuote.id),
};
const withDates = (row: Of<typeof WHOLE>): RequestWhole => ({
  ...row,
  revision: { ...row.revision, created_at: new Date(row.revision.created_at) },
});

/** SQL that reads requests by a condition on `request`, each with its current revision. */
const wholeWhere = (condition: string) =>
  `SELECT ${names(capabilityRequest, "request")}, to_jsonb(revision) AS revision, quote.id AS quote_id
    FROM ${PARTS} WHERE ${condition}`;
const readById = statement("capability_request.read", {
  params: { requestId: text },
  row: WHOLE,
  sql: wholeWhere("request.id = $requestId"),
});
const readOfKey = statement("capability_request.list.key", {
  params: { projectId: text, spellings: texts },
  row: {
    ...WHOLE,
    idempotency_key: present(capabilityRequest.idempotency_key, "its condition leaves nulls out"),
  },
  sql: wholeWhere("request.project_id = $projectId AND request.idempotency_key = ANY($spellings)"),
});
/** The parameters that limit requests to those that the caller may see. */
export const REQUEST_SCOPE = pick(SCOPE, "organizationIds projectId");
const readVisible = statement("capability_request.read.visible", {
  params: { requestId: text, ...REQUEST_SCOPE },
  row: WHOLE,
  sql: wholeWhere(`request.id = $requestId AND ${inScope(REQUEST_SCOPE, "request")}`),
});

/**
 * SQL for the columns of lists: from `request`, its current `revision`, and the `quote` that can be paid or
 * was.
 */
export const BRIEF = `${names(capabilityRequest, "request")}, revision.hash, revision.number, revision.body->>'summary' AS summary,
  quote.id AS quote_id, quote.price_micros AS quote_micros, quote.currency AS quote_currency,
  quote.expires_at AS quote_expires_at, refund.state AS refund_state
  FROM ${PARTS} LEFT JOIN payment_refund refund ON refund.payment_id = quote.payment_id`;

/**
 * SQL for the requests (`request_id`) with a failed refund of any payment, even one that came too late to buy
 * anything.
 */
export const REFUND_FAILED = `SELECT sold.request_id FROM payment_refund failed
  JOIN payment ON payment.id = failed.payment_id JOIN commission_quote sold ON sold.id = payment.subject_id
  WHERE failed.state = 'failed'`;

/** A request with its current revision. Does not check the caller's rights. */
export async function readWithRevision(database: Queryable, requestId: string): Promise<RequestWhole> {
  const row = await readById.first(database, { requestId });
  return row ? withDates(row) : noSuchRequest();
}

/** The requests of a project that have one of these spellings of an idempotency key. */
export const readWithKey = async (projectId: string, spellings: string[]): Promise<RequestWhole[]> =>
  (await readOfKey.all(pool, { projectId, spellings })).map(withDates);

/** Rights to read requests, and to change them. */
export const READ_REQUESTS = "jobs:read";
const WRITE_REQUESTS = "requests:write";

/**
 * A request that the caller may read; operators read every one. NotFound for a foreign request as for an
 * unknown one.
 */
export function findRequest(ctx: Ctx, requestId: string): Promise<RequestWhole> {
  return findWithin(isOperator(ctx) ? EVERYTHING : access.authorize(ctx, READ_REQUESTS, "rows"), requestId);
}

/**
 * Throws unless the caller may change a request: NotFound for strangers, AuthorizationFailed for members who
 * may only read.
 */
export async function requireWriter(ctx: Ctx, requestId: string): Promise<void> {
  const isPerson = ctx.principal.kind === "human_session";
  const row = await findWithin(
    access.authorize(ctx, isPerson ? READ_REQUESTS : WRITE_REQUESTS, "rows"),
    requestId,
  );
  await access.authorize(ctx, WRITE_REQUESTS, { projectId: row.project_id });
}

async function findWithin(scope: ReadScope, requestId: string): Promise<RequestWhole> {
  const [row] = await readInScope(readVisible, scope, { requestId });
  return row ? withDates(row) : noSuchRequest();
}

export function noSuchRequest(): never {
  fail("NotFound", "There is no such capability request.");
}

const hashText = (hash: string): string => `sha256:${hash}`;

export const toRevision = (row: RevisionRow): RequestRevision => ({
  id: row.id,
  number: row.number,
  requestHash: hashText(row.hash),
  content: row.body,
  createdBy: row.created_by,
  createdAt: row.created_at.toISOString(),
});

const facts = (row: RequestRow & { quote_id: string | null }, hash: string) => ({
  schemaVersion: REQUEST_VERSION as typeof REQUEST_VERSION,
  id: row.id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  status: row.status,
  currentRevisionId: row.current_revision_id,
  requestHash: hashText(hash),
  feedback: row.feedback,
  quoteId: row.quote_id,
  capabilityKey: row.capability_key,
  createdBy: row.created_by,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  submittedAt: row.submitted_at?.toISOString() ?? null,
  fulfilledAt: row.fulfilled_at?.toISOString() ?? null,
});

const NEXT: Record<RequestStatus, CapabilityRequest["nextAction"]> = {
  draft: "submit",
  submitted: "poll",
  in_review: "poll",
  needs_information: "revise",
  quoted: "present_quote",
  paid: "poll",
  fulfilled: "run",
  declined: "stop",
  refunded: "stop",
};

export const toRequest = (row: RequestWhole): CapabilityRequest => ({
  ...facts(row, row.revision.hash),
  revision: toRevision(row.revision),
  nextAction: NEXT[row.status],
});

export const toRequestSummary = (row: RequestBrief): RequestSummary => ({
  ...facts(row, row.hash),
  summary: row.summary,
  revisionNumber: row.number,
  price: row.quote_micros === null ? null : toMoney(row.quote_micros, row.quote_currency ?? undefined),
  quoteExpiresAt: row.quote_expires_at?.toISOString() ?? null,
});

export const toRequestItem = (row: RequestBrief): ListedRequest => ({
  ...toRequestSummary(row),
  refund: row.refund_state,
});

/** End of the acceptance window; null if the request has not been fulfilled. */
export function acceptedUntil({ fulfilled_at }: Pick<RequestRow, "fulfilled_at">): Date | null {
  return fulfilled_at && new Date(fulfilled_at.getTime() + ACCEPTANCE_WINDOW_DAYS * DAY_MS);
}

/**
 * True while a commission is refunded on request: any time before fulfilment, and within its acceptance
 * window.
 */
export function isWithinAcceptance(request: Pick<RequestRow, "fulfilled_at">, now: Date): boolean {
  const until = acceptedUntil(request);
  return until === null || now <= until;
}

/** The state of a quote at a moment: an active quote expires by time alone, without a write. */
export function stateAt(quote: Pick<CommissionQuoteRow, "state" | "expires_at">, now: Date): CommissionState {
  return quote.state === "active" && quote.expires_at <= now ? "expired" : quote.state;
}

/** The path of the page where a person pays a quote. */
export const approvalPath = (quoteId: string): string => `/approve/capability-quotes/${quoteId}`;

export const toCommissionQuote = (
  row: CommissionQuoteRow,
  requestHash: string,
  now: Date,
): CommissionQuote => ({
  quoteId: row.id,
  quoteKind: "commission",
  notExecutionQuoteId: true,
  requestId: row.request_id,
  requestRevisionId: row.revision_id,
  requestHash: hashText(requestHash),
  status: stateAt(row, now),
  commissionPrice: toMoney(row.price_micros, row.currency),
  taxTreatment: "tax_calculated_at_checkout",
  runtimePricing: row.runtime_pricing,
  delivery: { targetBusinessDays: row.business_days },
  guarantee: { kind: "full-satisfaction-refund", acceptanceWindowDays: ACCEPTANCE_WINDOW_DAYS },
  note: row.note,
  issuedAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  approval: { humanRequired: true, approvalUrl: publicUrl + approvalPath(row.id) },
});
