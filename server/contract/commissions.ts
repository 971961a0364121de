import { z } from "zod";
import { RefundState } from "./billing";
import { DateTime, Money } from "./common";
import { CapabilityRequest, CommissionQuote, RequestRevision } from "./requests";

/** Why a commission is refunded in full; the first three reasons are automatic. */
export const RefundReason = z.enum(["expired", "superseded", "already_paid", "operator"]);
export type RefundReason = z.output<typeof RefundReason>;

export const CommissionPayment = z.object({
  paymentId: z.string(),
  /** `processing`: the payer has paid and the money has not arrived yet. */
  state: z.enum(["open", "processing", "paid", "failed", "expired"]),
  /** Before tax. */
  amount: Money,
  /** Tax that the payment provider added. */
  tax: Money,
  /** The part of amount and tax that has been refunded so far. */
  refunded: Money,
  test: z.boolean(),
  /** Email address of the person who opened the checkout; null if their account was deleted. */
  startedBy: z.string().nullable(),
  createdAt: DateTime,
  paidAt: DateTime.nullable(),
  /** The full refund; null if none was requested. */
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

/** An organization's payments for commissions, newest first. This money never enters the wallet. */
export const ListCommissionPayments = z.object({
  organizationId: z.string().min(1).max(64),
  /** The `nextCursor` of the previous page, a payment id. */
  cursor: z.string().max(64).optional(),
});
export const PaidCommission = CommissionPayment.extend({
  quoteId: z.string(),
  requestId: z.string(),
  projectId: z.string(),
  /** Summary of the request's revision that was priced. */
  summary: z.string(),
});
export type PaidCommission = z.output<typeof PaidCommission>;
export const PaidCommissionPage = z.object({
  items: z.array(PaidCommission),
  nextCursor: z.string().optional(),
});
export type PaidCommissionPage = z.output<typeof PaidCommissionPage>;

/** A commission quote with the facts a person needs to approve it. Only people can read it. */
export const Commission = z.object({
  quote: CommissionQuote,
  organization: z.object({ organizationId: z.string(), displayName: z.string() }),
  project: z.object({ projectId: z.string(), displayName: z.string() }),
  /** The revision of the request that was priced. */
  revision: RequestRevision,
  /** The request's current state; if there is a newer quote, its id is in `quoteId`. */
  request: CapabilityRequest,
  /** Payments of this quote, newest first. */
  payments: z.array(CommissionPayment),
  /** The payment provider; null if this installation accepts no payments. */
  checkout: z.object({ provider: z.string(), test: z.boolean() }).nullable(),
  /** Is the reader a member of the organization, in any role? If not, they are an operator. */
  isMember: z.boolean(),
  mayPay: z.boolean(),
  /** The server's time, for countdowns. */
  now: DateTime,
});
export type Commission = z.output<typeof Commission>;

/** A full refund that was requested from the payment provider. */
export const AskedRefund = z.object({ refundId: z.string(), paymentId: z.string(), state: RefundState });
export type AskedRefund = z.output<typeof AskedRefund>;
export const CommissionRefund = AskedRefund.extend({ requestId: z.string() });
export type CommissionRefund = z.output<typeof CommissionRefund>;
/** An operator's refund of a commission, with a message to the customer. */
export const RefundCommission = z.strictObject({
  requestId: z.string().min(1).max(64),
  reason: z.string().trim().min(1).max(4_000),
});
export type RefundCommission = z.output<typeof RefundCommission>;
/** The failed refund to request again, and its payment. */
export const RetryRefund = z.strictObject({
  paymentId: z.string().min(1).max(64),
  refundId: z.string().min(1).max(64),
});
export type RetryRefund = z.output<typeof RetryRefund>;

export const CommissionRef = z.object({ quoteId: z.string().min(1).max(64) });
