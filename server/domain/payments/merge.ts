import type { PaymentState } from "@/server/contract/billing";
import type { PaymentMessage, PaymentNews } from "@/server/payments/define";
import type { Micros } from "@/server/platform/money";
import { type Dispute, type PaymentRow, returnedMicros, totalMicros } from "./rows";

/** A state is replaced only by one of higher rank, so any order of messages leads to the same state. */
const RANK: Record<PaymentState, number> = { open: 0, expired: 1, failed: 2, paid: 3 };
const OUTCOME_RANK = { open: 0, lost: 1, won: 2 } as const;

/** Returns how a message contradicts this payment; null if it does not. */
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
  // The tax is known only once the provider's checkout has ended.
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

/** Returns the row with the message applied. */
export function merged(row: PaymentRow, message: PaymentMessage, news: PaymentNews, now: Date): PaymentRow {
  const provider_payment_id = row.provider_payment_id ?? news.providerPaymentId;
  const at = message.at.toISOString();
  switch (news.about) {
    case "checkout": {
      const state = RANK[news.state] > RANK[row.state] ? news.state : row.state;
      const isNowPaid = state === "paid" && row.state !== "paid";
      // The provider's clock may be ahead of ours, and no payment may lie in the future.
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
    case "refund": {
      const { refundedMicros: total, beforeMicros: before } = news;
      return withRefunds(
        { ...row, provider_payment_id },
        {
          refund_totals: { [at]: Math.max(row.refund_totals[at] ?? 0, total) },
          // Stripe may report one refund in two events, which get the same key here.
          refund_steps: before === null ? {} : { [`${at} ${before} ${total}`]: total - before },
        },
      );
    }
    case "failed_refund": {
      const { providerRefundId, amountMicros, reason, refundId } = news;
      const known = row.failed_refunds[providerRefundId];
      // A later report does not move the failure past its first reported time.
      const since = known && known.at < at ? known.at : at;
      return withRefunds(
        { ...row, provider_payment_id },
        { failed_refunds: { [providerRefundId]: { amountMicros, reason, refundId, at: since } } },
      );
    }
    case "dispute": {
      const known = row.disputes[news.disputeId];
      const said: Dispute = { amountMicros: news.amountMicros, outcome: news.outcome, at };
      return {
        ...row,
        provider_payment_id,
        disputes:
          known && !isLaterOutcome(said, known) ? row.disputes : { ...row.disputes, [news.disputeId]: said },
      };
    }
  }
}

/**
 * An ended dispute does not open again. The later of two ends counts, since a bank may decide for us after
 * the dispute was lost; providers report whole seconds, and within one second a win comes after a loss.
 */
function isLaterOutcome(said: Dispute, known: Dispute): boolean {
  const isEnd = said.outcome !== "open";
  if (isEnd !== (known.outcome !== "open")) return isEnd;
  const [saidAt, knownAt] = [said.at ?? "", known.at ?? ""];
  return saidAt === knownAt ? OUTCOME_RANK[said.outcome] > OUTCOME_RANK[known.outcome] : saidAt > knownAt;
}

type RefundNews = Pick<PaymentRow, "refund_totals" | "refund_steps" | "failed_refunds">;

function withRefunds(row: PaymentRow, news: Partial<RefundNews>): PaymentRow {
  const next = {
    ...row,
    refund_totals: { ...row.refund_totals, ...news.refund_totals },
    refund_steps: { ...row.refund_steps, ...news.refund_steps },
    failed_refunds: { ...row.failed_refunds, ...news.failed_refunds },
  };
  return { ...next, refunded_micros: Math.max(0, byTotals(next), bySteps(next)) };
}

const sumOf = (amounts: Micros[]): Micros => amounts.reduce((sum, micros) => sum + micros, 0);

/**
 * Returned amount as the sum of single refunds without the failed ones. It misses refunds for which the
 * provider reported only a total.
 */
function bySteps({ refund_steps, failed_refunds }: RefundNews): Micros {
  const failed = Object.values(failed_refunds).map(({ amountMicros }) => amountMicros);
  return sumOf(Object.values(refund_steps)) - sumOf(failed);
}

/**
 * Returned amount by the reported totals, whatever the order of messages. A total excludes refunds that
 * failed before it, so later failures are subtracted. Providers report whole seconds: within one second the
 * failure counts as later, unless the total has not grown, because then at least one failure came first. So
 * the result is never too high.
 */
function byTotals({ refund_totals, failed_refunds }: RefundNews): Micros {
  const failures = Object.values(failed_refunds);
  const seconds = new Set([...Object.keys(refund_totals), ...failures.map(({ at }) => at)]);
  let standing = 0;
  for (const second of [...seconds].sort()) {
    const failed = failures.filter(({ at }) => at === second).map(({ amountMicros }) => amountMicros);
    const total = refund_totals[second] ?? 0;
    const leftOut = failed.length > 0 && total > 0 && total <= standing ? Math.min(...failed) : 0;
    standing = Math.max(standing, total + leftOut) - sumOf(failed);
  }
  return standing;
}

/** Returns amount × part / whole, rounded down. */
const shareOf = (amount: Micros, part: Micros, whole: Micros): Micros =>
  Number((BigInt(amount) * BigInt(part)) / BigInt(whole));

/** Booked amounts of a payment; they follow from its row alone. */
export type Booked = {
  paid: Micros;
  /**
   * The purchase's share of `paid`, in the currency of the credit; `tax` is the tax in the payment's
   * currency.
   */
  credit: Micros;
  tax: Micros;
  returned: Micros;
  /**
   * The purchase's share of `returned`, in the currency of the credit; `taxBack` is the tax in the payment's
   * currency.
   */
  debit: Micros;
  taxBack: Micros;
};

/** True if the whole amount has been returned. */
export const isWholeBack = ({ paid, returned }: Booked): boolean => paid > 0 && returned === paid;

/** Returns the booked amounts of a payment; all zero until it is paid. */
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
    // The net part is rounded down, so net and tax together equal the returned amount.
    taxBack: returned - shareOf(row.amount_micros, returned, whole),
  };
}
