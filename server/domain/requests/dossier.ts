import type { AuditPage } from "@/server/contract/audit";
import {
  type DossierPayment,
  OperatorAct,
  type QueueCounts,
  type RequestDossier,
  type RevisionRef,
} from "@/server/contract/dossiers";
import type { RequestRevision } from "@/server/contract/requests";
import { access } from "@/server/domain/access";
import * as audit from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { principalNames } from "@/server/domain/organizations";
import { capabilityRequestRevision, payment, paymentRefund } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { column, int4, names, pick, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { ownersOf, paymentsOf } from "./approval";
import { COMMISSION } from "./commission";
import { type CommissionQuoteWhole, listQuotes } from "./quotes";
import { events } from "./read";
import {
  acceptedUntil,
  findRequest,
  isWithinAcceptance,
  REFUND_FAILED,
  type RequestWhole,
  stateAt,
  toCommissionQuote,
  toRequest,
  toRevision,
} from "./rows";
import { canMove } from "./transitions";

const AUDIT_PAGE = 25;
const MOST_PAYMENTS = 99;

const countQueue = statement("capability_request.count.queue", {
  params: { statuses: texts },
  row: {
    status: present(column<keyof QueueCounts>("text"), "both parts select one"),
    count: present(int4, "both parts count"),
  },
  sql: `SELECT status, count(*)::int AS count FROM capability_request WHERE status = ANY($statuses) GROUP BY status
     UNION ALL SELECT 'refundFailed', count(DISTINCT request_id)::int FROM (${REFUND_FAILED}) failed`,
});

/** Counts the requests in the operators' queue by status, and all requests with a failed refund. For operators. */
export async function queueCounts(ctx: Ctx): Promise<QueueCounts> {
  access.authorize(ctx, "operator");
  const counts: QueueCounts = { submitted: 0, in_review: 0, quoted: 0, paid: 0, refundFailed: 0 };
  for (const { status, count } of await countQueue.all(pool, { statuses: Object.keys(counts) }))
    counts[status] = count;
  return counts;
}

/**
 * One request with everything that an operator needs to decide, and the acts that are possible now. For
 * operators.
 */
export async function dossier(ctx: Ctx, requestId: string): Promise<RequestDossier> {
  access.authorize(ctx, "operator");
  const request = await findRequest(ctx, requestId);
  const now = ctx.now();
  const [owners, revisions, quotes, thread] = await Promise.all([
    ownersOf(request),
    listHeads.all(pool, { requestId: request.id }),
    listQuotes.all(pool, { requestId: request.id }),
    events(ctx, request.id),
  ]);
  const ids = [request, ...revisions].map((row) => row.created_by);
  const [people, payments] = await Promise.all([
    principalNames([...ids, ...quotes.map((row) => row.issued_by)]),
    Promise.all(quotes.map((row) => paidFor(row, now))),
  ]);
  const known = (id: string) => people.get(id) ?? id;
  return {
    request: toRequest(request),
    organizationName: owners.organization,
    projectName: owners.project,
    author: known(request.created_by),
    revisions: revisions.map((row) => {
      const { content: _, ...head } = toRevision(row);
      return { ...head, author: known(row.created_by) };
    }),
    quotes: quotes.map((row, at) => ({
      ...toCommissionQuote(row, row.request_hash, now),
      issuer: known(row.issued_by),
      payments: payments[at] ?? [],
    })),
    events: thread,
    acts: actsOn(request, quotes, payments.flat(), now),
    acceptedUntil: acceptedUntil(request)?.toISOString() ?? null,
  };
}

const readRevision = statement("capability_request_revision.read.request", {
  params: { revisionId: text, requestId: text },
  row: capabilityRequestRevision,
  sql: `SELECT ${names(capabilityRequestRevision)} FROM capability_request_revision
    WHERE id = $revisionId AND request_id = $requestId`,
});

/** One wording of a request. NotFound if the request has no such revision. For operators. */
export async function revision(ctx: Ctx, { requestId, revisionId }: RevisionRef): Promise<RequestRevision> {
  access.authorize(ctx, "operator");
  const row = await readRevision.first(pool, { revisionId, requestId });
  return row ? toRevision(row) : fail("NotFound", "This request has no such revision.");
}

const listPayments = statement("payment.list.commissions_of_request", {
  params: { requestId: text },
  row: pick(payment, "id"),
  sql: `SELECT payment.id FROM payment JOIN commission_quote quote ON quote.id = payment.subject_id
     WHERE quote.request_id = $requestId AND payment.kind = '${COMMISSION}' ORDER BY payment.id DESC LIMIT ${MOST_PAYMENTS}`,
});

/** Audit entries of a request and of its latest `MOST_PAYMENTS` payments, latest first. For operators. */
export async function auditTrail(
  ctx: Ctx,
  { requestId, cursor }: { requestId: string; cursor?: string | undefined },
): Promise<AuditPage> {
  access.authorize(ctx, "operator");
  const rows = await listPayments.all(pool, { requestId });
  return audit.entries(ctx, {
    subjects: [requestId, ...rows.map(({ id }) => id)],
    cursor,
    limit: AUDIT_PAGE,
  });
}

/** Reads heads only: the page shows just two of many long wordings. */
const listHeads = statement("capability_request_revision.list.heads", {
  params: { requestId: text },
  row: capabilityRequestRevision,
  sql: `SELECT id, request_id, organization_id, number, '{}'::jsonb AS body, hash, created_by, created_by_kind, created_at
     FROM capability_request_revision WHERE request_id = $requestId ORDER BY number DESC`,
});

const refundsOf = statement("payment_refund.list.payments", {
  params: { paymentIds: texts },
  row: pick(paymentRefund, "id payment_id note last_error"),
  sql: "SELECT id, payment_id, note, last_error FROM payment_refund WHERE payment_id = ANY($paymentIds)",
});

/** The payments of one quote, with the refund details that only operators read. */
async function paidFor({ id }: CommissionQuoteWhole, now: Date): Promise<DossierPayment[]> {
  const payments = await paymentsOf([id], now);
  const rows = await refundsOf.all(pool, { paymentIds: payments.map(({ paymentId }) => paymentId) });
  return payments.map((payment) => {
    const refund = rows.find((row) => row.payment_id === payment.paymentId);
    return {
      ...payment,
      refundId: refund?.id ?? null,
      refundNote: refund?.note ?? null,
      refundError: refund?.last_error ?? null,
    };
  });
}

/** The acts that would be accepted and make sense: nothing ships while its money goes back. */
function actsOn(
  request: RequestWhole,
  quotes: CommissionQuoteWhole[],
  payments: DossierPayment[],
  now: Date,
): OperatorAct[] {
  const { status } = request;
  const isPayable = quotes.some((quote) => stateAt(quote, now) === "active");
  const asked = payments.filter(({ refund }) => refund?.reason === "operator");
  const isReturning = asked.some(({ refund }) => refund?.state !== "failed");
  const may: Record<OperatorAct, boolean> = {
    review: canMove(status, "in_review"),
    quote: canMove(status, "quoted") && !isPayable,
    ask: canMove(status, "needs_information"),
    decline: canMove(status, "declined"),
    fulfil: canMove(status, "fulfilled") && !isReturning,
    refund: canMove(status, "refunded") && isWithinAcceptance(request, now) && asked.length === 0,
  };
  return OperatorAct.options.filter((act) => may[act]);
}
