import type { Commission, CommissionPayment, RefundReason } from "@/server/contract/commissions";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { roleIn } from "@/server/domain/organizations";
import {
  checkoutOffered,
  isProcessing,
  type PaymentRow,
  type RefundState,
  returnedMicros,
} from "@/server/domain/payments";
import { toMoney } from "@/server/money";
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

/** A commission quote for who comes to pay it: a person of its organization, or an operator. For anybody else there is none. */
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

/** The payments of commission quotes, newest first, with what becomes of those that go back. The caller may see them. */
export async function paymentsOf(quoteIds: string[], now: Date): Promise<CommissionPayment[]> {
  const { rows } = await pool.query<PaidRow>(
    `SELECT payment.*, person.email AS started_by, refund.reason AS refund_reason, refund.state AS refund_state,
       refund.created_at AS refund_at, refund.completed_at AS refund_completed_at
     FROM payment LEFT JOIN user_account person ON person.id = payment.created_by
     LEFT JOIN payment_refund refund ON refund.payment_id = payment.id
     WHERE payment.kind = '${COMMISSION}' AND payment.subject_id = ANY($1) ORDER BY payment.id DESC`,
    [quoteIds],
  );
  return rows.map((row) => ({
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
  }));
}

function shownState(row: PaymentRow, now: Date): CommissionPayment["state"] {
  if (isProcessing(row)) return "processing";
  return row.state === "open" && row.expires_at <= now ? "expired" : row.state;
}
