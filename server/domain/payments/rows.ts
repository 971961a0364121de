import type { PaymentView, ScaledFxRate } from "@/server/contract/billing";
import { pool } from "@/server/db";
import { type Micros, toMoney } from "@/server/money";
import type { DisputeOutcome } from "@/server/payments/define";
import { kindOf } from "./kinds";

export type PaymentState = PaymentView["state"];
export type Disputes = Record<string, { amountMicros: Micros; outcome: DisputeOutcome }>;

export type PaymentRow = {
  id: string;
  organization_id: string;
  kind: string;
  subject_id: string | null;
  provider: string;
  session_id: string | null;
  provider_payment_id: string | null;
  customer_id: string | null;
  state: PaymentState;
  currency: string;
  amount_micros: Micros;
  credit_micros: Micros;
  exchange: ScaledFxRate | null;
  refunded_micros: Micros;
  disputes: Disputes;
  is_test: boolean;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
};

export async function findPayment(paymentId: string): Promise<PaymentRow | null> {
  const { rows } = await pool.query<PaymentRow>("SELECT * FROM payment WHERE id = $1", [paymentId]);
  return rows[0] ?? null;
}

/** Of what was paid, how much went back: refunds and disputes that were lost, never more than the whole. */
export function returnedMicros(
  row: Pick<PaymentRow, "amount_micros" | "refunded_micros" | "disputes">,
): Micros {
  const lost = Object.values(row.disputes)
    .filter(({ outcome }) => outcome === "lost")
    .reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  return Math.min(row.amount_micros, row.refunded_micros + lost);
}

export function toPaymentView(row: PaymentRow, now: Date): PaymentView {
  const isLate = row.state === "open" && row.expires_at <= now;
  return {
    paymentId: row.id,
    organizationId: row.organization_id,
    kind: row.kind,
    title: kindOf(row.kind).title,
    provider: row.provider,
    state: isLate ? "expired" : row.state,
    amount: toMoney(row.amount_micros, row.currency),
    credit: toMoney(row.credit_micros),
    refunded: toMoney(returnedMicros(row), row.currency),
    fx: row.exchange,
    test: row.is_test,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    paidAt: row.paid_at?.toISOString() ?? null,
  };
}
