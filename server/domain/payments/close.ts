import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { PaymentProviderDown } from "@/server/payments/define";
import { pool, type Queryable } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { providerNamed } from "./provider";
import type { PaymentRow } from "./rows";

const MOST = 50;
/** A page the provider was asked to close, of which nothing was heard, is asked for again after this. */
const AGAIN_MS = 120_000;
/** By then every page has closed automatically. */
const LONGEST_MS = DAY_MS;

/** Marks the open checkouts of a thing to be closed now: it cannot be bought any more. In the caller's transaction. */
export async function closeCheckoutsOf(client: Queryable, kind: string, subjectId: string, now: Date) {
  await client.query(
    "UPDATE payment SET close_at = $3 WHERE kind = $1 AND subject_id = $2 AND state = 'open' AND close_at = expires_at",
    [kind, subjectId, now],
  );
}

/**
 * Has the provider close pages whose time has come, one after the other; one that does not answer is asked again. Safe in
 * every process at once. Money that was faster still arrives, and is judged when it does.
 */
export async function closeDue(ctx: Ctx, organizationId: string | null = null): Promise<void> {
  const now = ctx.now();
  const { rows } = await pool.query<PaymentRow>(
    `UPDATE payment SET close_at = $2 WHERE id IN (
       SELECT id FROM payment WHERE close_at <= $1 AND ($3::text IS NULL OR organization_id = $3) AND ${notHeld("refunds")}
       ORDER BY close_at LIMIT ${MOST} FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    [now, new Date(now.getTime() + AGAIN_MS), organizationId],
  );
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
      return; // nor will the others be, now
    }
    await pool.query(
      `UPDATE payment SET close_at = NULL, state = CASE WHEN state = 'open' THEN 'expired' ELSE state END WHERE id = $1`,
      [row.id],
    );
  }
}
