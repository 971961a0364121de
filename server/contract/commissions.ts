import { z } from "zod";
import { RefundState } from "./billing";
import { DateTime, Money } from "./common";
import { CapabilityRequest, CommissionQuote, RequestRevision } from "./requests";

/** Why money of a commission goes back whole: the first three automatically. */
export const RefundReason = z.enum(["expired", "superseded", "already_paid", "operator"]);
export type RefundReason = z.output<typeof RefundReason>;

/** One payment of a commission quote. */
export const CommissionPayment = z.object({
  paymentId: z.string(),
  /** processing: the payer has done their part, and the money is still on its way. */
  state: z.enum(["open", "processing", "paid", "failed", "expired"]),
  /** Before tax. */
  amount: Money,
  /** What the provider added. */
  tax: Money,
  /** Of both, given back so far. */
  refunded: Money,
  test: z.boolean(),
  /** The email of the person who opened the checkout; null: their account is gone. */
  startedBy: z.string().nullable(),
  createdAt: DateTime,
  paidAt: DateTime.nullable(),
  /** It goes back whole; null: it does not. */
  refund: z
    .object({
      reason: RefundReason,
      state: RefundState,
      requestedAt: DateTime,
      completedAt: DateTime.nullable(),
    })
    .nullable(),
});
export type CommissionPayment = z.output<typeof CommissionPayment>;

/** What an organization paid for commissions, latest first, with what it was for. Such money never lies in the wallet. */
export const ListCommissionPayments = z.object({
  organizationId: z.string().min(1).max(64),
  /** The `nextCursor` of the page before: a payment id. */
  cursor: z.string().max(64).optional(),
});
export const PaidCommission = CommissionPayment.extend({
  quoteId: z.string(),
  requestId: z.string(),
  projectId: z.string(),
  /** Of the wording that was priced. */
  summary: z.string(),
});
export type PaidCommission = z.output<typeof PaidCommission>;
export const PaidCommissionPage = z.object({
  items: z.array(PaidCommission),
  nextCursor: z.string().optional(),
});
export type PaidCommissionPage = z.output<typeof PaidCommissionPage>;

/** A commission quote with all that the person needs who is to approve it: for its page, and for people only. */
export const Commission = z.object({
  quote: CommissionQuote,
  organization: z.object({ organizationId: z.string(), displayName: z.string() }),
  project: z.object({ projectId: z.string(), displayName: z.string() }),
  /** The wording that was priced. */
  revision: RequestRevision,
  /** The request as it is now: its newer quote is in `quoteId`. */
  request: CapabilityRequest,
  /** Of this quote, newest first. */
  payments: z.array(CommissionPayment),
  /** How people pay here; null: not at all. */
  checkout: z.object({ provider: z.string(), test: z.boolean() }).nullable(),
  /** Is the reader a member of the organization, whatever their role? Else they are an operator. */
  isMember: z.boolean(),
  mayPay: z.boolean(),
  /** The time here, to count down by. */
  now: DateTime,
});
export type Commission = z.output<typeof Commission>;

/** The full refund that was requested from the payment's provider. */
export const AskedRefund = z.object({ refundId: z.string(), paymentId: z.string(), state: RefundState });
export type AskedRefund = z.output<typeof AskedRefund>;
export const CommissionRefund = AskedRefund.extend({ requestId: z.string() });
export type CommissionRefund = z.output<typeof CommissionRefund>;
/** An operator's act of giving a commission back, with what they write to the customer. */
export const RefundCommission = z.strictObject({
  requestId: z.string().min(1).max(64),
  reason: z.string().trim().min(1).max(4_000),
});
export type RefundCommission = z.output<typeof RefundCommission>;
/** The refund that failed, and of which payment it was to be. */
export const RetryRefund = z.strictObject({
  paymentId: z.string().min(1).max(64),
  refundId: z.string().min(1).max(64),
});
export type RetryRefund = z.output<typeof RetryRefund>;

export const CommissionRef = z.object({ quoteId: z.string().min(1).max(64) });
