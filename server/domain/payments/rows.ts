import type { PaymentView } from "@/server/contract/billing";
import type { RefundReason } from "@/server/contract/commissions";
import { payment } from "@/server/generated/schema";
import type { DisputeOutcome } from "@/server/payments/define";
import { pool } from "@/server/platform/db";
import { type Micros, toMoney } from "@/server/platform/money";
import { publicUrl } from "@/server/platform/settings/env";
import { type Of, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { kindOf } from "./kinds";

export type { RefundReason };
/** `at` is the time of the provider's report in ISO 8601; absent in rows written by version 0.2.0. */
export type Dispute = { amountMicros: Micros; outcome: DisputeOutcome; at?: string };
export type Disputes = Record<string, Dispute>;
/** Totals by the time of their report, in ISO 8601. */
export type RefundTotals = Record<string, Micros>;
/** Amount that each refund added, by the time of its report and the totals before and after. */
export type RefundSteps = Record<string, Micros>;
export type FailedRefund = { amountMicros: Micros; at: string; reason: string; refundId: string | null };
/** Failed refunds by the provider's refund id. */
export type FailedRefunds = Record<string, FailedRefund>;

export type PaymentRow = Of<typeof payment>;

const readPayment = statement("payment.read", {
  params: { paymentId: text },
  row: payment,
  sql: `SELECT * FROM payment WHERE id = $paymentId`,
});

export const lockPayment = statement("payment.lock", {
  params: { paymentId: text },
  row: payment,
  sql: `SELECT * FROM payment WHERE id = $paymentId FOR UPDATE`,
});

export async function findPayment(paymentId: string): Promise<PaymentRow | null> {
  return readPayment.first(pool, { paymentId });
}

/** Amount of the payment including tax. */
export const totalMicros = (row: Pick<PaymentRow, "amount_micros" | "tax_micros">): Micros =>
  row.amount_micros + row.tax_micros;

/** Returned part of a payment: refunds and lost disputes, at most the whole amount. */
export function returnedMicros(
  row: Pick<PaymentRow, "amount_micros" | "tax_micros" | "refunded_micros" | "disputes">,
): Micros {
  const lost = Object.values(row.disputes)
    .filter(({ outcome }) => outcome === "lost")
    .reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  return Math.min(totalMicros(row), row.refunded_micros + lost);
}

/** True if the payer has completed a checkout whose money has not arrived. */
export const isProcessing = (row: Pick<PaymentRow, "state" | "processing_at">): boolean =>
  row.processing_at !== null && (row.state === "open" || row.state === "expired");

/** URL to which the payer returns. */
export function returnUrl(
  row: Pick<PaymentRow, "id" | "organization_id" | "kind" | "subject_id">,
  result: "success" | "canceled",
): string {
  const query = new URLSearchParams({ organizationId: row.organization_id, payment: row.id, result });
  return `${publicUrl}${kindOf(row.kind).returnPath(row.subject_id)}?${query}`;
}

export function toPaymentView(row: PaymentRow, now: Date): PaymentView {
  const isLate = row.state === "open" && row.expires_at <= now;
  const kind = kindOf(row.kind);
  return {
    paymentId: row.id,
    organizationId: row.organization_id,
    kind: row.kind,
    title: kind.title(row.subject_id),
    provider: row.provider,
    state: isLate ? "expired" : row.state,
    processing: isProcessing(row),
    amount: toMoney(row.amount_micros, row.currency),
    tax: toMoney(row.tax_micros, row.currency),
    credit: toMoney(row.credit_micros, row.exchange ? "USD" : row.currency),
    refunded: toMoney(returnedMicros(row), row.currency),
    fx: row.exchange,
    test: row.is_test,
    returnPath: kind.returnPath(row.subject_id),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    paidAt: row.paid_at?.toISOString() ?? null,
  };
}
