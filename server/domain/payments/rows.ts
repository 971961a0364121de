import type { PaymentView, ScaledFxRate } from "@/server/contract/billing";
import type { RefundReason } from "@/server/contract/commissions";
import type { DisputeOutcome } from "@/server/payments/define";
import { pool } from "@/server/platform/db";
import { type Micros, toMoney } from "@/server/platform/money";
import { publicUrl } from "@/server/platform/settings/env";
import { kindOf } from "./kinds";

export type { RefundReason };
export type PaymentState = PaymentView["state"];
/** `at`: when the provider reported the outcome, in ISO 8601; absent where version 0.2.0 wrote it. */
export type Dispute = { amountMicros: Micros; outcome: DisputeOutcome; at?: string };
export type Disputes = Record<string, Dispute>;
/** By the time it was reported, in ISO 8601. */
export type RefundTotals = Record<string, Micros>;
/** What each refund added to the total, by when it was reported and from which total to which. */
export type RefundSteps = Record<string, Micros>;
export type FailedRefund = { amountMicros: Micros; at: string; reason: string; refundId: string | null };

export type PaymentRow = {
  id: string;
  organization_id: string;
  kind: string;
  subject_id: string | null;
  provider: string;
  session_id: string | null;
  provider_payment_id: string | null;
  customer_id: string | null;
  payer_email: string | null;
  is_taxed: boolean;
  state: PaymentState;
  currency: string;
  amount_micros: Micros;
  credit_micros: Micros;
  exchange: ScaledFxRate | null;
  tax_micros: Micros;
  refunded_micros: Micros;
  refund_totals: RefundTotals;
  refund_steps: RefundSteps;
  failed_refunds: Record<string, FailedRefund>;
  disputes: Disputes;
  is_test: boolean;
  checkout_url: string | null;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  processing_at: Date | null;
  close_at: Date | null;
};

export async function findPayment(paymentId: string): Promise<PaymentRow | null> {
  const { rows } = await pool.query<PaymentRow>("SELECT * FROM payment WHERE id = $1", [paymentId]);
  return rows[0] ?? null;
}

/** All that was paid, or is to be: what is bought and the tax on it. */
export const totalMicros = (row: Pick<PaymentRow, "amount_micros" | "tax_micros">): Micros =>
  row.amount_micros + row.tax_micros;

/** Of what was paid, how much went back: refunds and disputes that were lost, never more than the whole. */
export function returnedMicros(
  row: Pick<PaymentRow, "amount_micros" | "tax_micros" | "refunded_micros" | "disputes">,
): Micros {
  const lost = Object.values(row.disputes)
    .filter(({ outcome }) => outcome === "lost")
    .reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  return Math.min(totalMicros(row), row.refunded_micros + lost);
}

/** Has the payer done their part of a checkout whose money is still on its way? */
export const isProcessing = (row: Pick<PaymentRow, "state" | "processing_at">): boolean =>
  row.processing_at !== null && (row.state === "open" || row.state === "expired");

/** The page to which a payer returns. */
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
