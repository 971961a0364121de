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
import { readCursor, toPage } from "@/server/domain/paging";
import {
  checkoutOffered,
  isProcessing,
  type PaymentRow,
  type RefundState,
  returnedMicros,
} from "@/server/domain/payments";
import {
  capabilityRequestRevision,
  commissionQuote,
  organization,
  payment,
  paymentRefund,
  project,
  userAccount,
} from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { toMoney } from "@/server/platform/money";
import { column, maybe, names, type Of, pick, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { COMMISSION, findQuote, noSuchQuote } from "./commission";
import { mayPay } from "./payer";
import {
  type CommissionQuoteRow,
  type RevisionRow,
  readWithRevision,
  toCommissionQuote,
  toRequest,
  toRevision,
} from "./rows";

/**
 * A commission quote with its request and payments, for people of its organization and for operators.
 * NotFound for anyone else.
 */
export async function commission(ctx: Ctx, quoteId: string): Promise<Commission> {
  const quote = await findQuote(pool, quoteId);
  if (!quote || !roleIn(ctx, quote.organization_id)) noSuchQuote();
  const { principal } = ctx;
  const now = ctx.now();
  const [owners, revision, request, payments] = await Promise.all([
    ownersOf(quote),
    revisionOf(quote),
    readWithRevision(pool, quote.request_id),
    paymentsOf([quote.id], now),
  ]);
  return {
    quote: toCommissionQuote(quote, revision.hash, now),
    organization: { organizationId: quote.organization_id, displayName: owners.organization },
    project: { projectId: quote.project_id, displayName: owners.project },
    revision: toRevision(revision),
    request: toRequest(request),
    payments,
    checkout: checkoutOffered(),
    isMember: principal.kind === "human_session" && principal.memberships.has(quote.organization_id),
    mayPay: mayPay(ctx, quote.organization_id),
    now: now.toISOString(),
  };
}

const readOwners = statement("project.read.names", {
  params: { projectId: text },
  row: { organization: organization.display_name, project: project.display_name },
  sql: `SELECT organization.display_name AS organization, project.display_name AS project
     FROM project JOIN organization ON organization.id = project.organization_id WHERE project.id = $projectId`,
});

/** Display names of the organization and the project that own a row. */
export async function ownersOf(of: {
  project_id: string;
}): Promise<{ organization: string; project: string }> {
  const owners = await readOwners.first(pool, { projectId: of.project_id });
  return owners!; // the row belongs to an existing project
}

const readRevision = statement("capability_request_revision.read", {
  params: { revisionId: text },
  row: capabilityRequestRevision,
  sql: `SELECT ${names(capabilityRequestRevision)} FROM capability_request_revision WHERE id = $revisionId`,
});

const revisionOf = async (quote: CommissionQuoteRow): Promise<RevisionRow> =>
  (await readRevision.first(pool, { revisionId: quote.revision_id })) ?? noSuchQuote();

/** A payment in the form that the payments domain reads. */
export const PAYMENT = {
  ...payment,
  state: column<PaymentRow["state"]>("text"),
  exchange: column<PaymentRow["exchange"]>("jsonb", true),
  refund_totals: column<PaymentRow["refund_totals"]>("jsonb"),
  refund_steps: column<PaymentRow["refund_steps"]>("jsonb"),
  failed_refunds: column<PaymentRow["failed_refunds"]>("jsonb"),
  disputes: column<PaymentRow["disputes"]>("jsonb"),
};
const PAID_ROW = {
  ...PAYMENT,
  started_by: maybe(userAccount.email),
  refund_reason: column<RefundReason | null>("text", true),
  refund_state: column<RefundState | null>("text", true),
  refund_at: maybe(paymentRefund.created_at),
  refund_completed_at: paymentRefund.completed_at,
};
type PaidRow = Of<typeof PAID_ROW>;

const PAID = `${names(payment, "payment")}, person.email AS started_by, refund.reason AS refund_reason, refund.state AS refund_state,
    refund.created_at AS refund_at, refund.completed_at AS refund_completed_at
  FROM payment LEFT JOIN user_account person ON person.id = payment.created_by
  LEFT JOIN payment_refund refund ON refund.payment_id = payment.id`;

const listOfQuotes = statement("payment.list.quotes", {
  params: { quoteIds: texts },
  row: { ...PAID_ROW, subject_id: present(payment.subject_id, "its condition leaves nulls out") },
  sql: `SELECT ${PAID}
    WHERE payment.kind = '${COMMISSION}' AND payment.subject_id = ANY($quoteIds) ORDER BY payment.id DESC`,
});

/**
 * The payments of commission quotes, newest first, with their refunds. The caller must have checked access to
 * the quotes.
 */
export async function paymentsOf(quoteIds: string[], now: Date): Promise<CommissionPayment[]> {
  const rows = await listOfQuotes.all(pool, { quoteIds });
  return rows.map((row) => toPayment(row, now));
}

const PAGE = 10;

const listOfOrganization = statement("payment.list.commissions", {
  params: { organizationId: text, after: maybe(text) },
  row: {
    ...PAID_ROW,
    ...pick(commissionQuote, "request_id project_id"),
    quote_id: commissionQuote.id,
    summary: present(text, "every wording has one, in JSON that the database does not read"),
  },
  sql: `SELECT quote.id AS quote_id, quote.request_id, quote.project_id, revision.body->>'summary' AS summary, ${PAID}
     JOIN commission_quote quote ON quote.id = payment.subject_id
     JOIN capability_request_revision revision ON revision.id = quote.revision_id
     WHERE payment.kind = '${COMMISSION}' AND payment.organization_id = $organizationId
       AND ($after::text IS NULL OR payment.id < $after)
       AND (payment.state = 'paid' OR payment.state IN ('open', 'expired') AND payment.processing_at IS NOT NULL)
     ORDER BY payment.id DESC LIMIT ${PAGE + 1}`,
});

/**
 * Payments of an organization for commissions, completed or in processing, latest first. For people of the
 * organization: the panel shows these payments beside the wallet's transactions, although they do not move
 * the wallet.
 */
export async function listPaid(
  ctx: Ctx,
  { organizationId, cursor }: z.output<typeof ListCommissionPayments>,
): Promise<PaidCommissionPage> {
  const rows = await listOfOrganization.all(pool, {
    organizationId: billedOrganization(ctx, organizationId, "viewer"),
    after: readCursor("payment", cursor),
  });
  return toPage(rows, PAGE, (row) => ({
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
    refund: refundOf(row),
  };
}

/** All columns of the refund are null if the payment has none. */
function refundOf({ refund_reason: reason, refund_state: state, refund_at: at, ...row }: PaidRow) {
  if (reason === null || state === null || at === null) return null;
  const completedAt = row.refund_completed_at?.toISOString() ?? null;
  return { reason, state, requestedAt: at.toISOString(), completedAt };
}

function shownState(row: PaymentRow, now: Date): CommissionPayment["state"] {
  if (isProcessing(row)) return "processing";
  return row.state === "open" && row.expires_at <= now ? "expired" : row.state;
}
