import type { RefundState } from "@/server/contract/billing";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { paymentRefund } from "@/server/generated/schema";
import type { Queryable, Transaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { bool, maybe, type Of, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type PaymentRow, type RefundReason, returnedMicros, totalMicros } from "./rows";

export type { RefundState };
export type RefundRow = Of<typeof paymentRefund>;

type Wanted = { payment: PaymentRow; reason: RefundReason; requestedBy: string; note: string | null };

const insertRefund = statement("payment_refund.insert", {
  params: {
    paymentRefundId: paymentRefund.id,
    paymentId: paymentRefund.payment_id,
    organizationId: paymentRefund.organization_id,
    reason: paymentRefund.reason,
    requestedBy: paymentRefund.requested_by,
    note: paymentRefund.note,
    state: paymentRefund.state,
    nextAttemptAt: maybe(timestamptz),
    now: timestamptz,
    completedAt: maybe(timestamptz),
  },
  row: paymentRefund,
  sql: `INSERT INTO payment_refund (id, payment_id, organization_id, reason, requested_by, note, state, next_attempt_at, created_at,
       completed_at)
     VALUES ($paymentRefundId, $paymentId, $organizationId, $reason, $requestedBy, $note, $state, $nextAttemptAt, $now, $completedAt)
     ON CONFLICT (payment_id) DO NOTHING RETURNING *`,
});

/**
 * Records, in the caller's transaction, that a whole payment must be refunded; the provider is called
 * later. A payment has one refund, so a further request changes nothing, even if that refund failed.
 * Returns the refund.
 */
export async function writeRefund(client: Transaction, ctx: Ctx, wanted: Wanted): Promise<RefundRow> {
  const { payment, reason, requestedBy, note } = wanted;
  const isBack = returnedMicros(payment) === totalMicros(payment);
  const now = ctx.now();
  const rows = await insertRefund.all(client, {
    paymentRefundId: newId("refund"),
    paymentId: payment.id,
    organizationId: payment.organization_id,
    reason,
    requestedBy,
    note,
    state: isBack ? "done" : "pending",
    nextAttemptAt: isBack ? null : now,
    now,
    completedAt: isBack ? now : null,
  });
  const [written] = rows;
  if (written) await recordDue(client, ctx, written);
  return written ?? (await findRefund(client, payment.id))!; // the insert conflicts only with this row
}

const restartRefund = statement("payment_refund.update.renewed", {
  params: {
    paymentId: text,
    failedId: text,
    refundId: paymentRefund.id,
    requestedBy: paymentRefund.requested_by,
    now: timestamptz,
  },
  row: paymentRefund,
  sql: `UPDATE payment_refund SET id = $refundId, requested_by = $requestedBy, state = 'pending', attempts = 0, next_attempt_at = $now,
       lease_until = NULL, completed_at = NULL
     WHERE payment_id = $paymentId AND id = $failedId AND state = 'failed' RETURNING *`,
});

/**
 * Restarts the failed refund of a locked payment, in the caller's transaction. It gets a new id, because
 * the provider would repeat its answer for the old one. Each failed id has one successor, so a repeated
 * request changes nothing. Returns the current refund of the payment; null if it has none.
 */
export async function renewRefund(
  client: Transaction,
  ctx: Ctx,
  payment: PaymentRow,
  failedId: string,
): Promise<RefundRow | null> {
  const rows = await restartRefund.all(client, {
    paymentId: payment.id,
    failedId,
    refundId: newId("refund"),
    requestedBy: ctx.principal.id,
    now: ctx.now(),
  });
  const [renewed] = rows;
  if (renewed) await recordDue(client, ctx, renewed, failedId);
  return renewed ?? findRefund(client, payment.id);
}

const readRefund = statement("payment_refund.read", {
  params: { paymentId: text },
  row: paymentRefund,
  sql: `SELECT * FROM payment_refund WHERE payment_id = $paymentId`,
});

async function findRefund(client: Queryable, paymentId: string): Promise<RefundRow | null> {
  return readRefund.first(client, { paymentId });
}

/** `failedId` is the id of the refund that this one replaces. */
async function recordDue(client: Transaction, ctx: Ctx, refund: RefundRow, failedId?: string): Promise<void> {
  const { id: refundId, organization_id: organizationId, payment_id: subject, reason, state } = refund;
  const details = { refundId, reason, state, ...(failedId && { failedRefundId: failedId }) };
  await record(ctx, { organizationId, action: "payment.refund_due", subject, details }, client);
}

/** Returns the operator's note on the refund of a payment; null if there is none. */
export async function noteOfRefund(client: Queryable, paymentId: string): Promise<string | null> {
  return (await findRefund(client, paymentId))?.note ?? null;
}

const completeRefund = statement("payment_refund.update.done", {
  params: { paymentId: text, now: timestamptz },
  sql: `UPDATE payment_refund SET state = 'done', completed_at = coalesce(completed_at, $now), next_attempt_at = NULL,
       lease_until = NULL, last_error = NULL
     WHERE payment_id = $paymentId AND state <> 'done'`,
});

/** Marks the refund as done, because the whole payment has been returned in some way. */
export async function endRefund(client: Queryable, ctx: Ctx, paymentId: string): Promise<void> {
  await completeRefund.run(client, { paymentId, now: ctx.now() });
}

const storeFailure = statement("payment_refund.update.failed", {
  params: {
    paymentId: text,
    now: timestamptz,
    lastError: paymentRefund.last_error,
    refundId: maybe(text),
    wasWhole: bool,
  },
  row: { id: paymentRefund.id },
  sql: `UPDATE payment_refund SET state = 'failed', completed_at = $now, last_error = $lastError, next_attempt_at = NULL, lease_until = NULL
     WHERE payment_id = $paymentId AND state <> 'failed' AND (id = $refundId OR ($wasWhole AND state = 'done')) RETURNING id`,
});

/**
 * Marks the refund as failed because the payment is no longer wholly returned. Applies if `refundId` names
 * it, even while our own request is still running, or if it was done only because everything had been
 * returned. Returns its id, or null if nothing changed.
 */
export async function failRefund(
  client: Queryable,
  ctx: Ctx,
  failed: { paymentId: string; refundId: string | null; reason: string; wasWhole: boolean },
): Promise<string | null> {
  const found = await storeFailure.first(client, {
    paymentId: failed.paymentId,
    now: ctx.now(),
    lastError: failed.reason,
    refundId: failed.refundId,
    wasWhole: failed.wasWhole,
  });
  return found?.id ?? null;
}
