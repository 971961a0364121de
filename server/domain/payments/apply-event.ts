import { record } from "@/server/domain/audit";
import { book, type WalletPosting } from "@/server/domain/billing";
import type { Ctx } from "@/server/domain/ctx";
import { payment } from "@/server/generated/schema";
import type { PaymentMessage } from "@/server/payments/define";
import type { Transaction } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import type { Micros } from "@/server/platform/money";
import { pick } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { kindOf, type Paid } from "./kinds";
import { type Booked, booked, isWholeBack } from "./merge";
import { endRefund, failRefund, noteOfRefund, writeRefund } from "./refund-rows";
import type { FailedRefund, PaymentRow } from "./rows";

/** A payment after an event, with the amounts booked before and those to book now. */
type Change = { row: PaymentRow; was: Booked; is: Booked; eventId: string };

/**
 * Stores the payment after an event, books the difference and records it. The caller has locked the row.
 */
export async function applyPaymentEvent(
  client: Transaction,
  ctx: Ctx,
  { before, after, message }: { before: PaymentRow; after: PaymentRow; message: PaymentMessage },
): Promise<void> {
  await storeEvent.run(client, after);
  const [was, is] = [booked(before), booked(after)];
  const eventId = message.id;
  const change: Change = { row: after, was, is, eventId };
  if (is.paid !== was.paid) await bookPaid(client, ctx, change);
  else if (after.state !== before.state)
    await auditPayment(client, ctx, after, { action: `payment.${after.state}`, details: { eventId } });
  if (is.returned > was.returned) await bookReturned(client, ctx, change);
  const isDispute = message.news?.about === "dispute";
  if (is.returned < was.returned)
    await recordReversal(client, ctx, change, isDispute ? "dispute_won" : "refund_failed");
  for (const [id, failed] of Object.entries(after.failed_refunds)) {
    if (!before.failed_refunds[id]) await refundFailed(client, ctx, change, { id, ...failed });
  }
  for (const [disputeId, { amountMicros, outcome }] of Object.entries(after.disputes)) {
    if (before.disputes[disputeId]?.outcome !== outcome)
      await auditPayment(client, ctx, after, {
        action: "payment.disputed",
        details: { eventId, disputeId, amountMicros, outcome },
      });
  }
}

const storeEvent = statement("payment.update.event", {
  params: pick(
    payment,
    "id state session_id provider_payment_id customer_id tax_micros refunded_micros disputes",
    "paid_at processing_at close_at refund_totals failed_refunds refund_steps",
  ),
  sql: `UPDATE payment SET state = $state, session_id = $session_id, provider_payment_id = $provider_payment_id,
      customer_id = $customer_id, tax_micros = $tax_micros, refunded_micros = $refunded_micros, disputes = $disputes,
      paid_at = $paid_at, processing_at = $processing_at, close_at = $close_at, refund_totals = $refund_totals,
      failed_refunds = $failed_refunds, refund_steps = $refund_steps WHERE id = $id`,
});

async function bookPaid(client: Transaction, ctx: Ctx, { row, is, eventId }: Change) {
  const kind = kindOf(row.kind);
  const paid = paidOf(row, ctx);
  await book(client, {
    ...commonOf(row, ctx),
    transactionId: transactionOf(row),
    kind: row.kind,
    postings: postingsOf(row, {
      account: kind.account(paid),
      amountMicros: is.paid,
      creditMicros: is.credit,
      taxMicros: is.tax,
    }),
  });
  const unwanted = await kind.onPaid(client, ctx, paid, is.credit);
  await auditPayment(client, ctx, row, {
    action: "payment.paid",
    details: {
      eventId,
      amountMicros: is.paid,
      currency: row.currency,
      creditMicros: is.credit,
      ...(is.tax === 0 ? {} : { taxMicros: is.tax }),
    },
  });
  if (unwanted)
    await writeRefund(client, ctx, {
      payment: row,
      reason: unwanted,
      requestedBy: ctx.principal.id,
      note: null,
    });
}

async function bookReturned(client: Transaction, ctx: Ctx, change: Change) {
  const { row, was, is, eventId } = change;
  await bookReturn(client, ctx, change, "refund");
  const returned = is.returned - was.returned;
  const debit = is.debit - was.debit;
  const isWhole = isWholeBack(is);
  await kindOf(row.kind).onReturned(client, ctx, paidOf(row, ctx), {
    micros: debit,
    isWhole,
    note: isWhole ? await noteOfRefund(client, row.id) : null,
  });
  if (isWhole) await endRefund(client, ctx, row.id);
  await auditPayment(client, ctx, row, {
    action: "payment.returned",
    details: {
      eventId,
      amountMicros: returned,
      currency: row.currency,
      debitMicros: debit,
    },
  });
}

/**
 * Books that less has been returned than before: posts the difference back, and the purchase gets its money
 * back. After a dispute was won, it also fails the refund that the lost dispute had completed.
 */
async function recordReversal(
  client: Transaction,
  ctx: Ctx,
  change: Change,
  cause: "refund_failed" | "dispute_won",
) {
  const { row, was, is } = change;
  await bookReturn(client, ctx, change, cause);
  const wasWhole = isWholeBack(was);
  await kindOf(row.kind).onReversed(client, ctx, paidOf(row, ctx), {
    micros: was.debit - is.debit,
    wasWhole,
  });
  if (cause === "refund_failed" || !wasWhole) return;
  const reason = "a lost dispute had returned the money, and was won later";
  const refundId = await failRefund(client, ctx, { paymentId: row.id, refundId: null, reason, wasWhole });
  if (refundId) await tellFailed(client, ctx, row, refundId);
}

/**
 * Names the transaction after the message: each message is applied once, and changes the returned amount at
 * most once.
 */
async function bookReturn(
  client: Transaction,
  ctx: Ctx,
  { row, was, is, eventId }: Change,
  entryKind: "refund" | "refund_failed" | "dispute_won",
) {
  const account = kindOf(row.kind).account(paidOf(row, ctx));
  await book(client, {
    ...commonOf(row, ctx),
    transactionId: `${transactionOf(row)}_returned_${eventId}`,
    kind: entryKind,
    postings: postingsOf(row, {
      account,
      amountMicros: was.returned - is.returned,
      creditMicros: was.debit - is.debit,
      taxMicros: was.taxBack - is.taxBack,
    }),
  });
}

/**
 * Handles a refund that was accepted but did not reach the payer. It can be requested again, unless the
 * whole amount was returned in another way.
 */
async function refundFailed(
  client: Transaction,
  ctx: Ctx,
  { row, was, is, eventId }: Change,
  { id, refundId, amountMicros, reason }: FailedRefund & { id: string },
) {
  ctx.log.error({ paymentId: row.id, refundId, providerRefundId: id, reason }, "a refund has failed");
  await auditPayment(client, ctx, row, {
    action: "payment.refund_failed",
    details: {
      eventId,
      providerRefundId: id,
      refundId,
      amountMicros,
      currency: row.currency,
      cameBackMicros: was.returned - is.returned,
      error: reason,
    },
  });
  if (isWholeBack(is)) return;
  await failRefund(client, ctx, { paymentId: row.id, refundId, reason, wasWhole: isWholeBack(was) });
  await tellFailed(client, ctx, row, refundId ?? id);
}

async function tellFailed(client: Transaction, ctx: Ctx, row: PaymentRow, id: string) {
  if (row.subject_id === null) return;
  await kindOf(row.kind).onRefundFailed?.(client, ctx, { id, subjectId: row.subject_id });
}

const transactionOf = (row: PaymentRow) => `txn_${row.id.slice(row.id.indexOf("_") + 1)}`;
const commonOf = (row: PaymentRow, ctx: Ctx) => ({
  organizationId: row.organization_id,
  paymentId: row.id,
  isTest: row.is_test,
  at: ctx.now(),
});
const paidOf = (row: PaymentRow, ctx: Ctx): Paid => ({
  paymentId: row.id,
  organizationId: row.organization_id,
  subjectId: row.subject_id,
  isTest: row.is_test,
  paidAt: row.paid_at ?? ctx.now(),
});

/**
 * Moves money from the provider to the credited account and the tax account, through the exchange if the
 * currencies differ.
 */
function postingsOf(
  row: PaymentRow,
  {
    account,
    amountMicros,
    creditMicros,
    taxMicros,
  }: { account: string; amountMicros: Micros; creditMicros: Micros; taxMicros: Micros },
): WalletPosting[] {
  const { currency } = row;
  const fromProvider = { account: `payments:${row.provider}`, amountMicros: -amountMicros, currency };
  const tax = { account: `tax:${row.provider}`, amountMicros: taxMicros, currency };
  if (!row.exchange) return [fromProvider, { account, amountMicros: creditMicros, currency }, tax];
  return [
    fromProvider,
    { account: "exchange", amountMicros: amountMicros - taxMicros, currency },
    { account: "exchange", amountMicros: -creditMicros },
    { account, amountMicros: creditMicros },
    tax,
  ];
}

/** Records an event of a payment in the audit log of its organization. */
export const auditPayment = (
  client: Transaction,
  ctx: Ctx,
  row: PaymentRow,
  { action, details }: { action: string; details: Record<string, Json> },
) => record(ctx, { organizationId: row.organization_id, action, subject: row.id, details }, client);
