import type { Commission, CommissionPayment } from "@/server/contract/commissions";

/** The checkout the reader returns from, according to the URL. Only the payment knows its outcome. */
export type CheckoutReturn = { payment?: string | undefined; result?: "success" | "canceled" | undefined };

/** The stage of a commission as shown to its reader. */
export type CommissionStage =
  | { kind: "payable" }
  | { kind: "confirming" }
  | { kind: "processing"; payment: CommissionPayment }
  | { kind: "expired" }
  | { kind: "superseded"; byQuoteId: string | null }
  | { kind: "paid"; payment: CommissionPayment | null; isFresh: boolean }
  | { kind: "fulfilled"; capabilityKey: string; payment: CommissionPayment | null }
  | { kind: "refunding"; payment: CommissionPayment; hasFailed: boolean }
  | { kind: "refunded"; payment: CommissionPayment | null };

/** The payment that paid a quote, not one that is refunded automatically. */
export function payingPayment<Payment extends CommissionPayment>(payments: Payment[]): Payment | null {
  return (
    payments.find(({ state, refund }) => state === "paid" && (!refund || refund.reason === "operator")) ??
    null
  );
}

/** The stage at a point in time, which may be later than the server's last response. */
export function commissionStage(
  commission: Commission,
  returned: CheckoutReturn,
  nowMs: number,
): CommissionStage {
  const { quote, request, payments } = commission;
  if (quote.status === "paid") return afterPaying(commission, returned);
  if (quote.status === "superseded") {
    const isNewer = request.quoteId !== null && request.quoteId !== quote.quoteId;
    return { kind: "superseded", byQuoteId: isNewer ? request.quoteId : null };
  }
  if (quote.status === "expired" || Date.parse(quote.expiresAt) <= nowMs) return { kind: "expired" };
  const processing = payments.find(({ state }) => state === "processing");
  if (processing) return { kind: "processing", payment: processing };
  const mine = returnedPayment(commission, returned);
  if (returned.result === "success" && mine?.state === "open") return { kind: "confirming" };
  return { kind: "payable" };
}

function afterPaying(commission: Commission, returned: CheckoutReturn): CommissionStage {
  const { request } = commission;
  const payment = payingPayment(commission.payments);
  if (request.status === "refunded") return { kind: "refunded", payment };
  if (payment?.refund) return { kind: "refunding", payment, hasFailed: payment.refund.state === "failed" };
  if (request.status === "fulfilled" && request.capabilityKey)
    return { kind: "fulfilled", capabilityKey: request.capabilityKey, payment };
  const isFresh = returned.result === "success" && payment?.paymentId === returned.payment;
  return { kind: "paid", payment, isFresh };
}

export function returnedPayment(
  { payments }: Commission,
  { payment }: CheckoutReturn,
): CommissionPayment | null {
  return payments.find(({ paymentId }) => paymentId === payment) ?? null;
}

/** The outcome of the checkout the reader returns from, in addition to the stage; null if there is nothing to add. */
export function checkoutNews(
  commission: Commission,
  returned: CheckoutReturn,
  stage: CommissionStage,
): "canceled" | "failed" | "closed" | null {
  if (stage.kind !== "payable" && stage.kind !== "expired" && stage.kind !== "superseded") return null;
  const payment = returnedPayment(commission, returned);
  if (!payment) return null;
  if (payment.state === "failed") return "failed";
  if (payment.state === "open") return returned.result === "canceled" ? "canceled" : null;
  if (payment.state === "expired") return returned.result === "canceled" ? "canceled" : "closed";
  return null;
}

/** Payments that are refunded automatically, because nothing could be bought with them. */
export function returnedAutomatically({ payments }: Commission): CommissionPayment[] {
  return payments.filter(({ refund }) => refund && refund.reason !== "operator");
}

const SOON_MS = 2_000;
const LATER_MS = 10_000;
const SELDOM_MS = 30_000;

/** The polling interval for a stage in milliseconds; false when the stage is not expected to change. */
export function commissionPollMs(commission: Commission, stage: CommissionStage): number | false {
  if (stage.kind === "confirming") return SOON_MS;
  const isMoneyMoving =
    stage.kind === "processing" ||
    stage.kind === "refunding" ||
    commission.payments.some(({ refund }) => refund?.state === "pending");
  if (isMoneyMoving) return LATER_MS;
  const mayChange = stage.kind === "payable" || stage.kind === "paid" || stage.kind === "fulfilled";
  return mayChange ? SELDOM_MS : false;
}
