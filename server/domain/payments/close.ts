import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { payment } from "@/server/generated/schema";
import { PaymentProviderDown } from "@/server/payments/define";
import { pool, type Queryable } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { providerNamed } from "./provider";

const MOST = 50;
/** Wait before another attempt to close a page, in case the last one failed or was lost. */
const AGAIN_MS = 120_000;
/** Every page closes automatically within this time after its expiry. */
const LONGEST_MS = DAY_MS;

const bringForward = statement("payment.update.close_at", {
  params: { kind: text, subjectId: text, now: timestamptz },
  sql: `UPDATE payment SET close_at = $now WHERE kind = $kind AND subject_id = $subjectId AND state = 'open' AND close_at = expires_at`,
});

/**
 * Marks the open checkouts of a thing to be closed now, because it is no longer for sale. Runs in the
 * caller's transaction.
 */
export async function closeCheckoutsOf(client: Queryable, kind: string, subjectId: string, now: Date) {
  await bringForward.run(client, { kind, subjectId, now });
}

const takeDue = statement("payment.take.due", {
  params: { now: timestamptz, again: timestamptz, organizationId: maybe(text) },
  row: payment,
  sql: `UPDATE payment SET close_at = $again WHERE id IN (
       SELECT id FROM payment WHERE close_at <= $now AND ($organizationId::text IS NULL OR organization_id = $organizationId) AND ${notHeld("refunds")}
       ORDER BY close_at LIMIT ${MOST} FOR UPDATE SKIP LOCKED)
     RETURNING *`,
});

const storeClosed = statement("payment.update.closed", {
  params: { paymentId: text },
  sql: `UPDATE payment SET close_at = NULL, state = CASE WHEN state = 'open' THEN 'expired' ELSE state END WHERE id = $paymentId`,
});

/**
 * Closes due checkout pages at the provider, one after the other; a page that could not be closed is tried
 * again. Several processes may run this at once. A payment that was made before its page closed is still
 * applied.
 */
export async function closeDue(ctx: Ctx, organizationId: string | null = null): Promise<void> {
  const now = ctx.now();
  const rows = await takeDue.all(pool, { now, again: new Date(now.getTime() + AGAIN_MS), organizationId });
  for (const row of rows) {
    try {
      const isLongOver = now.getTime() > row.expires_at.getTime() + LONGEST_MS;
      if (row.session_id !== null && !isLongOver)
        await providerNamed(row.provider).closeCheckout(row.session_id);
    } catch (cause) {
      if (!(cause instanceof PaymentProviderDown)) throw cause;
      ctx.log.warn(
        { err: cause, paymentId: row.id },
        "a checkout could not be closed and will be tried again",
      );
      return; // the provider is down, so the others would fail too
    }
    await storeClosed.run(pool, { paymentId: row.id });
  }
}
