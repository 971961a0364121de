import { sendEvents } from "@/inngest/client";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { paymentRefund } from "@/server/generated/schema";
import { PaymentProviderDown } from "@/server/payments/define";
import { inTransaction, pool } from "@/server/platform/db";
import type { Step } from "@/server/platform/durable/step";
import { failpoint } from "@/server/platform/settings/failpoint";
import { HOUR_MS, MINUTE_MS } from "@/server/platform/time/units";
import { int4, maybe, present, text, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { applyPaymentMessage } from "./apply";
import { kindOf } from "./kinds";
import { providerNamed } from "./provider";
import type { RefundRow, RefundState } from "./refund-rows";
import { findPayment, type PaymentRow, returnedMicros, totalMicros } from "./rows";

const SECOND_MS = 1_000;
/**
 * Waits after the provider did not answer. The last one repeats forever, because owed money is never given
 * up.
 */
const WAITS_MS = [5 * SECOND_MS, 30 * SECOND_MS, 5 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS] as const;
/**
 * Lease of a refund that was queued or is being requested. When it expires without a result, the refund is
 * queued again.
 */
const PATIENCE_MS = 2 * MINUTE_MS;
/**
 * A run that is at most this early waits. One that is earlier ends, and the sweeper starts another run when
 * the refund is due.
 */
const MOST_EARLY_MS = 10 * SECOND_MS;
const MOST = 200;

type StepResult = { state: "ended" } | { state: "again"; afterMs: number };

/**
 * Flow of one refund: requests it until the provider accepts or rejects it. Each step reads the row, and
 * the refund's id is the provider's idempotency key, so a repeated request refunds once.
 */
export async function refundPayment(ctx: Ctx, refundId: string, step: Step): Promise<void> {
  for (let turn = 1; ; turn++) {
    const result: StepResult = await step.run(`ask-${turn}`, () => askForRefund(ctx, refundId));
    if (result.state === "ended") return;
    await step.sleep(`wait-${turn}`, result.afterMs);
  }
}

const leaseRefund = statement("payment_refund.lease", {
  params: { refundId: text, now: timestamptz },
  row: paymentRefund,
  sql: `UPDATE payment_refund SET attempts = attempts + 1, lease_until = ${leaseFor(PATIENCE_MS)}
     WHERE id = $refundId AND state = 'pending' AND next_attempt_at <= $now RETURNING *`,
});

/** Requests a due refund once and stores the provider's answer. */
export async function askForRefund(ctx: Ctx, refundId: string): Promise<StepResult> {
  const now = ctx.now();
  const rows = await leaseRefund.all(pool, { refundId, now });
  const [refund] = rows;
  if (!refund) return later(refundId, now);
  const payment = (await findPayment(refund.payment_id))!; // payments are never deleted
  if (returnedMicros(payment) === totalMicros(payment)) {
    await end(ctx, refund, payment, { state: "done" });
    return { state: "ended" };
  }
  failpoint("before-refund-asked");
  try {
    return await ask(ctx, refund, payment);
  } catch (cause) {
    if (!(cause instanceof PaymentProviderDown)) throw cause;
    ctx.log.warn(
      { err: cause, refundId, paymentId: payment.id },
      "a refund could not be requested and will be tried again",
    );
    return waitMore(ctx, refund);
  }
}

async function ask(ctx: Ctx, refund: RefundRow, payment: PaymentRow): Promise<StepResult> {
  const provider = providerNamed(payment.provider);
  if (payment.provider_payment_id === null) {
    await end(ctx, refund, payment, {
      state: "failed",
      reason: "the payment has no id at the payment provider",
    });
    return { state: "ended" };
  }
  const answer = await provider.refund({
    refundId: refund.id,
    paymentId: payment.id,
    providerPaymentId: payment.provider_payment_id,
    paidMicros: totalMicros(payment),
    currency: payment.currency,
    at: ctx.now(),
  });
  failpoint("after-refund-asked");
  if (answer.state === "refused") {
    await end(ctx, refund, payment, { state: "failed", reason: answer.reason });
  } else {
    await end(ctx, refund, payment, { state: "done" });
    if (answer.message) await applyPaymentMessage(ctx, provider, answer.message);
  }
  return { state: "ended" };
}

type End = { state: "done" } | { state: "failed"; reason: string };

const endPending = statement("payment_refund.update.ended", {
  params: {
    refundId: text,
    state: paymentRefund.state,
    now: timestamptz,
    lastError: paymentRefund.last_error,
  },
  sql: `UPDATE payment_refund SET state = $state, completed_at = $now, last_error = $lastError, next_attempt_at = NULL, lease_until = NULL
       WHERE id = $refundId AND state = 'pending'`,
});

async function end(ctx: Ctx, refund: RefundRow, payment: PaymentRow, how: End): Promise<void> {
  await inTransaction(async (client) => {
    const reason = how.state === "failed" ? how.reason : null;
    const rowCount = await endPending.count(client, {
      refundId: refund.id,
      state: how.state,
      now: ctx.now(),
      lastError: reason,
    });
    if (rowCount === 0) return; // another caller stored the end first
    const { organization_id: organizationId, id: refundId } = refund;
    const action = how.state === "done" ? "payment.refund_taken" : "payment.refund_refused";
    const details = { refundId, reason: refund.reason, ...(reason && { error: reason }) };
    await record(ctx, { organizationId, action, subject: payment.id, details }, client);
    if (how.state === "done") return;
    ctx.log.error({ refundId, paymentId: payment.id, reason }, "the payment provider rejected a refund");
    if (payment.subject_id !== null)
      await kindOf(payment.kind).onRefundFailed?.(client, ctx, {
        id: refundId,
        subjectId: payment.subject_id,
      });
  });
}

const postpone = statement("payment_refund.update.postponed", {
  params: { refundId: text, next: timestamptz, leaseMs: int4 },
  sql: `UPDATE payment_refund SET next_attempt_at = $next, lease_until = ${leaseFor("$leaseMs::int")}, last_error = 'The provider did not answer.'
     WHERE id = $refundId AND state = 'pending'`,
});

async function waitMore(ctx: Ctx, refund: RefundRow): Promise<StepResult> {
  const afterMs = WAITS_MS[Math.min(refund.attempts, WAITS_MS.length) - 1] ?? WAITS_MS[0];
  const next = new Date(ctx.now().getTime() + afterMs);
  const rowCount = await postpone.count(pool, { refundId: refund.id, next, leaseMs: afterMs + PATIENCE_MS });
  return rowCount ? { state: "again", afterMs } : { state: "ended" };
}

const readNext = statement("payment_refund.read.next_attempt", {
  params: { refundId: text },
  row: { next_attempt_at: present(paymentRefund.next_attempt_at, "a pending refund has a next attempt") },
  sql: `SELECT next_attempt_at FROM payment_refund WHERE id = $refundId AND state = 'pending'`,
});

async function later(refundId: string, now: Date): Promise<StepResult> {
  const row = await readNext.first(pool, { refundId });
  const earlyMs = row ? row.next_attempt_at.getTime() - now.getTime() : Number.POSITIVE_INFINITY;
  return earlyMs <= MOST_EARLY_MS ? { state: "again", afterMs: Math.max(earlyMs, 0) } : { state: "ended" };
}

const readState = statement("payment_refund.read.state", {
  params: { refundId: text },
  row: { state: paymentRefund.state },
  sql: `SELECT state FROM payment_refund WHERE id = $refundId`,
});

/** Queues a new refund for the engine, best effort, and returns its current state. */
export async function handOnRefund(ctx: Ctx, refund: RefundRow): Promise<RefundState> {
  await dispatchRefunds(ctx.now(), refund.organization_id).catch((cause) =>
    ctx.log.warn({ err: cause, refundId: refund.id }, "a refund was not queued; the sweeper will queue it"),
  );
  const found = await readState.first(pool, { refundId: refund.id });
  return found?.state ?? refund.state;
}

const leaseDue = statement("payment_refund.lease.due", {
  params: { now: timestamptz, organizationId: maybe(text) },
  row: { id: paymentRefund.id },
  sql: `UPDATE payment_refund SET lease_until = ${leaseFor(PATIENCE_MS)} WHERE id IN (
       SELECT id FROM payment_refund
       WHERE state = 'pending' AND next_attempt_at <= $now AND (lease_until IS NULL OR lease_until <= clock_timestamp())
         AND ($organizationId::text IS NULL OR organization_id = $organizationId) AND ${notHeld("refunds")}
       ORDER BY next_attempt_at LIMIT ${MOST} FOR UPDATE SKIP LOCKED)
     RETURNING id`,
});

/** Queues due refunds for the durable engine: new ones, and those whose run was lost. */
export async function dispatchRefunds(now: Date, organizationId: string | null = null): Promise<void> {
  const rows = await leaseDue.all(pool, { now, organizationId });
  await sendEvents(
    rows.map(({ id }) => ({
      // Each attempt to queue has its own id, so no engine drops it as a duplicate.
      id: `refund:${id}:${now.getTime()}`,
      name: "refund/due" as const,
      data: { refundId: id },
    })),
  );
}
