import type { z } from "zod";
import type {
  Commission,
  CommissionPayment,
  ListCommissionPayments,
  PaidCommissionPage,
  RefundReason,
} from "@/server/contract/commissions";
import { roleIn } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { pageOf, readCursor } from "@/server/domain/paging";
import {
  checkoutOffered,
  isProcessing,
  type PaymentRow,
  type RefundState,
  returnedMicros,
} from "@/server/domain/payments";
import { pool } from "@/server/platform/db";
import { toMoney } from "@/server/platform/money";
import { COMMISSION, findQuote, noSuchQuote } from "./commission";
import { mayPay } from "./payer";
import {
  type CommissionQuoteRow,
  type RevisionRow,
  readWhole,
  toCommissionQuote,
  toRequest,
  toRevision,
} from "./rows";

/** A commission quote for its payer: a person of its organization, or an operator. For anybody else there is none. */
export async function commission(ctx: Ctx, quoteId: string): Promise<Commission> {
  const quote = await findQuote(pool, quoteId);
  if (!quote || !roleIn(ctx, quote.organization_id)) noSuchQuote();
  const { principal } = ctx;
  const now = ctx.now();
  const [names, revision, [request], payments] = await Promise.all([
    ownersOf(quote),
    revisionOf(quote),
    readWhole(pool, "WHERE request.id = $1", [quote.request_id]),
    paymentsOf([quote.id], now),
  ]);
  if (!request) noSuchQuote();
  return {
    quote: toCommissionQuote(quote, revision.hash, now),
    organization: { organizationId: quote.organization_id, displayName: names.organization },
    project: { projectId: quote.project_id, displayName: names.project },
    revision: toRevision(revision),
    request: toRequest(request),
    payments,
    checkout: checkoutOffered(),
    isMember: principal.kind === "human_session" && principal.memberships.has(quote.organization_id),
    mayPay: mayPay(ctx, quote.organization_id),
    now: now.toISOString(),
  };
}

/** What the organization and the project are called that something belongs to. */
export async function ownersOf(of: {
  project_id: string;
}): Promise<{ organization: string; project: string }> {
  const { rows } = await pool.query<{ organization: string; project: string }>(
    `SELECT organization.display_name AS organization, project.display_name AS project
     FROM project JOIN organization ON organization.id = project.organization_id WHERE project.id = $1`,
    [of.project_id],
  );
  return rows[0]!; // a row of its project
}

async function revisionOf(quote: CommissionQuoteRow): Promise<RevisionRow> {
  const { rows } = await pool.query<RevisionRow>("SELECT * FROM capability_request_revision WHERE id = $1", [
    quote.revision_id,
  ]);
  return rows[0] ?? noSuchQuote();
}

type PaidRow = PaymentRow & {
  started_by: string | null;
  refund_reason: RefundReason | null;
  refund_state: RefundState;
  refund_at: Date;
  refund_completed_at: Date | null;
};

const PAID = `payment.*, person.email AS started_by, refund.reason AS refund_reason, refund.state AS refund_state,
    refund.created_at AS refund_at, refund.completed_at AS refund_completed_at
  FROM payment LEFT JOIN user_account person ON person.id = payment.created_by
  LEFT JOIN payment_refund refund ON refund.payment_id = payment.id`;

/** The payments of commission quotes, newest first, with what becomes of those that go back. The caller may see them. */
export async function paymentsOf(quoteIds: string[], now: Date): Promise<CommissionPayment[]> {
  const { rows } = await pool.query<PaidRow>(
    `SELECT ${PAID} WHERE payment.kind = '${COMMISSION}' AND payment.subject_id = ANY($1) ORDER BY payment.id DESC`,
    [quoteIds],
  );
  return rows.map((row) => toPayment(row, now));
}

const PAGE = 10;

/**
 * What an organization has paid for commissions, or is about to, latest first. For its people, who look for it beside the
 * transactions of the wallet, which it does not move.
 */
export async function listPaid(
  ctx: Ctx,
  { organizationId, cursor }: z.output<typeof ListCommissionPayments>,
): Promise<PaidCommissionPage> {
  const { rows } = await pool.query<
    PaidRow & { quote_id: string; request_id: string; project_id: string; summary: string }
  >(
    `SELECT quote.id AS quote_id, quote.request_id, quote.project_id, revision.body->>'summary' AS summary, ${PAID}
     JOIN commission_quote quote ON quote.id = payment.subject_id
     JOIN capability_request_revision revision ON revision.id = quote.revision_id
     WHERE payment.kind = '${COMMISSION}' AND payment.organization_id = $1 AND ($2::text IS NULL OR payment.id < $2)
       AND (payment.state = 'paid' OR payment.state IN ('open', 'expired') AND payment.processing_at IS NOT NULL)
     ORDER BY payment.id DESC LIMIT $3`,
    [billedOrganization(ctx, organizationId, "viewer"), readCursor("payment", cursor), PAGE + 1],
  );
  return pageOf(rows, PAGE, (row) => ({
    ...toPayment(row, ctx.now()),
    quoteId: row.quote_id,
    requestId: row.request_id,
    projectId: row.project_id,
    summary: row.summary,
  }));
}

function toPayment(row: PaidRow, now: Date): CommissionPayment {
  return {
    paymentId: row.id,
    state: shownState(row, now),
    amount: toMoney(row.amount_micros, row.currency),
    tax: toMoney(row.tax_micros, row.currency),
    refunded: toMoney(row.state === "paid" ? returnedMicros(row) : 0, row.currency),
    test: row.is_test,
    startedBy: row.started_by,
    createdAt: row.created_at.toISOString(),
    paidAt: row.paid_at?.toISOString() ?? null,
    refund: row.refund_reason && {
      reason: row.refund_reason,
      state: row.refund_state,
      requestedAt: row.refund_at.toISOString(),
      completedAt: row.refund_completed_at?.toISOString() ?? null,
    },
  };
}

function shownState(row: PaymentRow, now: Date): CommissionPayment["state"] {
  if (isProcessing(row)) return "processing";
  return row.state === "open" && row.expires_at <= now ? "expired" : row.state;
}
