import type { PaymentMessage, PaymentNews } from "@/server/payments/define";
import type { Micros } from "@/server/platform/money";
import { type FailedRefund, type PaymentRow, type PaymentState, returnedMicros, totalMicros } from "./rows";

/** A state gives way to later ones only: in any order of messages, the last one known is the same. */
const RANK: Record<PaymentState, number> = { open: 0, expired: 1, failed: 2, paid: 3 };
const OUTCOME_RANK = { open: 0, won: 1, lost: 2 } as const;

/** What in a message cannot be true of this payment; null: nothing. */
export function contradiction(row: PaymentRow, message: PaymentMessage, news: PaymentNews): string | null {
  if (message.isTest !== row.is_test) return "sandbox and live money are mixed";
  if (row.provider_payment_id && news.providerPaymentId && row.provider_payment_id !== news.providerPaymentId)
    return "another payment of the provider";
  if (news.about === "checkout") {
    if (row.session_id && row.session_id !== news.sessionId) return "another checkout session";
    if (news.paymentId !== row.id || news.organizationId !== row.organization_id) return "other metadata";
  }
  if (news.currency !== row.currency) return "another currency";
  return isAmountRight(row, news) ? null : "another amount";
}

function isAmountRight(row: PaymentRow, news: PaymentNews): boolean {
  const reported = news.amountMicros ?? 0;
  // What the provider adds as tax is known only once its checkout has ended.
  const isTaxOpen = row.is_taxed && row.state !== "paid";
  switch (news.about) {
    case "checkout":
      if (news.taxMicros !== 0 && !row.is_taxed) return false;
      if (row.state === "paid" && news.state === "paid" && news.taxMicros !== row.tax_micros) return false;
      return reported - news.taxMicros === row.amount_micros;
    case "refund":
      return isTaxOpen ? reported >= row.amount_micros : reported === totalMicros(row);
    case "failed_refund":
    case "dispute":
      return isTaxOpen || reported <= totalMicros(row);
  }
}

/** The row with the message applied. */
export function merged(row: PaymentRow, message: PaymentMessage, news: PaymentNews, now: Date): PaymentRow {
  const provider_payment_id = row.provider_payment_id ?? news.providerPaymentId;
  const at = message.at.toISOString();
  switch (news.about) {
    case "checkout": {
      const state = RANK[news.state] > RANK[row.state] ? news.state : row.state;
      const isNowPaid = state === "paid" && row.state !== "paid";
      // A clock that is ahead of ours pays nothing in the future.
      const happenedAt = message.at < now ? message.at : now;
      return {
        ...row,
        provider_payment_id,
        session_id: row.session_id ?? news.sessionId,
        customer_id: news.customerId ?? row.customer_id,
        state,
        tax_micros: isNowPaid ? news.taxMicros : row.tax_micros,
        processing_at: row.processing_at ?? (news.state === "open" ? happenedAt : null),
        paid_at: row.paid_at ?? (isNowPaid ? happenedAt : null),
        close_at: null, // its page has ended
      };
    }
    case "refund":
      return withRefunds(
        { ...row, provider_payment_id },
        { [at]: Math.max(row.refund_totals[at] ?? 0, news.refundedMicros) },
        {},
      );
    case "failed_refund": {
      const { providerRefundId, amountMicros, reason, refundId } = news;
      const known = row.failed_refunds[providerRefundId];
      // Reported again later, it still failed at the first reported time.
      const since = known && known.at < at ? known.at : at;
      return withRefunds(
        { ...row, provider_payment_id },
        {},
        { [providerRefundId]: { amountMicros, reason, refundId, at: since } },
      );
    }
    case "dispute": {
      const known = row.disputes[news.disputeId];
      const isLater = !known || OUTCOME_RANK[news.outcome] > OUTCOME_RANK[known.outcome];
      const { amountMicros, outcome } = news;
      return {
        ...row,
        provider_payment_id,
        disputes: isLater ? { ...row.disputes, [news.disputeId]: { amountMicros, outcome } } : row.disputes,
      };
    }
  }
}

function withRefunds(
  row: PaymentRow,
  totals: PaymentRow["refund_totals"],
  failed: PaymentRow["failed_refunds"],
): PaymentRow {
  const next = {
    ...row,
    refund_totals: { ...row.refund_totals, ...totals },
    failed_refunds: { ...row.failed_refunds, ...failed },
  };
  return { ...next, refunded_micros: standingMicros(next) };
}

/**
 * A total leaves out refunds that had failed before it, so what failed since comes off; the largest remainder is true in any
 * order of messages. Providers report whole seconds: in the same one, the failure is the later.
 */
function standingMicros({ refund_totals, failed_refunds }: PaymentRow): Micros {
  const failed: FailedRefund[] = Object.values(failed_refunds);
  const left = Object.entries(refund_totals).map(([saidAt, micros]) =>
    failed.reduce((rest, { at, amountMicros }) => (at >= saidAt ? rest - amountMicros : rest), micros),
  );
  return Math.max(0, ...left);
}

/** Part of an amount, as `part` is of `whole`; rounded down, and the whole amount at the end. */
const shareOf = (amount: Micros, part: Micros, whole: Micros): Micros =>
  Number((BigInt(amount) * BigInt(part)) / BigInt(whole));

/** What the books have of a payment; a function of its row alone. */
export type Booked = {
  paid: Micros;
  /** Of that, for what was bought, in its units; and the tax. */
  credit: Micros;
  tax: Micros;
  returned: Micros;
  /** Of that, taken from what was bought, and of the tax. */
  debit: Micros;
  taxBack: Micros;
};

/** Has all that was paid gone back? */
export const isWholeBack = ({ paid, returned }: Booked): boolean => paid > 0 && returned === paid;

/** The booked part of a payment: nothing before it is paid; then the whole amount, less what went back. */
export function booked(row: PaymentRow): Booked {
  if (row.state !== "paid") return { paid: 0, credit: 0, tax: 0, returned: 0, debit: 0, taxBack: 0 };
  const returned = returnedMicros(row);
  const whole = totalMicros(row);
  return {
    paid: whole,
    credit: row.credit_micros,
    tax: row.tax_micros,
    returned,
    debit: shareOf(row.credit_micros, returned, whole),
    // What is not tax is rounded down, so that both together are what went back.
    taxBack: returned - shareOf(row.amount_micros, returned, whole),
  };
}
