import type { RefundState } from "@/server/contract/billing";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import type { Queryable, Transaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { type PaymentRow, type RefundReason, returnedMicros, totalMicros } from "./rows";

export type { RefundState };
export type RefundRow = {
  id: string;
  payment_id: string;
  organization_id: string;
  reason: RefundReason;
  requested_by: string;
  note: string | null;
  state: RefundState;
  attempts: number;
  next_attempt_at: Date | null;
  lease_until: Date | null;
  last_error: string | null;
  created_at: Date;
  completed_at: Date | null;
};

type Wanted = { payment: PaymentRow; reason: RefundReason; requestedBy: string; note: string | null };

/**
 * Writes down, in the caller's transaction, that a payment is to go back whole; the provider is asked after it. A payment
 * has one refund: wanted again it stays as it is, also where it failed. Answers with it.
 */
export async function writeRefund(client: Transaction, ctx: Ctx, wanted: Wanted): Promise<RefundRow> {
  const { payment, reason, requestedBy, note } = wanted;
  const isBack = returnedMicros(payment) === totalMicros(payment);
  const now = ctx.now();
  const { rows } = await client.query<RefundRow>(
    `INSERT INTO payment_refund (id, payment_id, organization_id, reason, requested_by, note, state, next_attempt_at, created_at,
       completed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (payment_id) DO NOTHING RETURNING *`,
    [
      newId("refund"),
      payment.id,
      payment.organization_id,
      reason,
      requestedBy,
      note,
      isBack ? "done" : "pending",
      isBack ? null : now,
      now,
      isBack ? now : null,
    ],
  );
  const [written] = rows;
  if (written) await recordDue(client, ctx, written);
  return written ?? (await findRefund(client, payment.id))!; // the conflict above was with it
}

/**
 * Asks once more, in the caller's transaction, for the refund of a locked payment that failed under this id: under
 * a new id, since to the first the provider would repeat its first answer. Each id has one successor, so one that has a
 * successor is left as it is. Answers with the payment's refund as it then is; null: it has none.
 */
export async function renewRefund(
  client: Transaction,
  ctx: Ctx,
  payment: PaymentRow,
  failedId: string,
): Promise<RefundRow | null> {
  const { rows } = await client.query<RefundRow>(
    `UPDATE payment_refund SET id = $3, requested_by = $4, state = 'pending', attempts = 0, next_attempt_at = $5,
       lease_until = NULL, completed_at = NULL
     WHERE payment_id = $1 AND id = $2 AND state = 'failed' RETURNING *`,
    [payment.id, failedId, newId("refund"), ctx.principal.id, ctx.now()],
  );
  const [renewed] = rows;
  if (renewed) await recordDue(client, ctx, renewed, failedId);
  return renewed ?? findRefund(client, payment.id);
}

async function findRefund(client: Queryable, paymentId: string): Promise<RefundRow | null> {
  const { rows } = await client.query<RefundRow>("SELECT * FROM payment_refund WHERE payment_id = $1", [
    paymentId,
  ]);
  return rows[0] ?? null;
}

/** `failedId`: of the refund whose place it takes. */
async function recordDue(client: Transaction, ctx: Ctx, refund: RefundRow, failedId?: string): Promise<void> {
  const { id: refundId, organization_id: organizationId, payment_id: subject, reason, state } = refund;
  const details = { refundId, reason, state, ...(failedId && { failedRefundId: failedId }) };
  await record(ctx, { organizationId, action: "payment.refund_due", subject, details }, client);
}

/** What an operator wrote who wants a payment to go back; null: no one did. */
export async function noteOfRefund(client: Queryable, paymentId: string): Promise<string | null> {
  return (await findRefund(client, paymentId))?.note ?? null;
}

/** All of a payment is back, by whatever way: there is nothing left to ask for. */
export async function endRefund(client: Queryable, ctx: Ctx, paymentId: string): Promise<void> {
  await client.query(
    `UPDATE payment_refund SET state = 'done', completed_at = coalesce(completed_at, $2), next_attempt_at = NULL,
       lease_until = NULL, last_error = NULL
     WHERE payment_id = $1 AND state <> 'done'`,
    [paymentId, ctx.now()],
  );
}

/**
 * A payment is not wholly back, since a refund failed or a dispute was won: our refund failed if it is that one (`refundId`;
 * our own answer may still be on its way), or if it counted as done because everything was back. Returns its id if it failed
 * by this.
 */
export async function failRefund(
  client: Queryable,
  ctx: Ctx,
  failed: { paymentId: string; refundId: string | null; reason: string; wasWhole: boolean },
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE payment_refund SET state = 'failed', completed_at = $2, last_error = $3, next_attempt_at = NULL, lease_until = NULL
     WHERE payment_id = $1 AND state <> 'failed' AND (id = $4 OR ($5 AND state = 'done')) RETURNING id`,
    [failed.paymentId, ctx.now(), failed.reason, failed.refundId, failed.wasWhole],
  );
  return rows[0]?.id ?? null;
}
