import { sendEvents } from "@/inngest/client";
import type { Ctx } from "@/server/domain/ctx";
import { notHeld } from "@/server/domain/restores";
import { mail } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { maybe, text, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { findMailer } from "./mailer";

/** The most emails that one pass dispatches: a backlog waits in its rows. */
const MOST_AT_ONCE = 200;
/** An email that was dispatched and not started is dispatched again after this time. */
export const MAIL_REDISPATCH_MS = 120_000;

const claimDue = statement("mail.claim.due_for_engine", {
  params: { now: timestamptz, userId: maybe(text) },
  row: { id: mail.id },
  sql: `WITH due AS (
       SELECT mail.id FROM mail
       WHERE state IN ('pending', 'sending') AND next_attempt_at <= $now AND (lease_until IS NULL OR lease_until <= clock_timestamp())
         AND ${notHeld("mails", "mail.created_at")}
         AND ($userId::text IS NULL OR EXISTS (
           SELECT FROM notification WHERE notification.id = notification_id AND user_id = $userId))
       ORDER BY next_attempt_at LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED
     )
     UPDATE mail SET state = 'pending', lease_until = ${leaseFor(MAIL_REDISPATCH_MS)} FROM due WHERE mail.id = due.id RETURNING mail.id`,
});

/**
 * Dispatches due emails to the durable engine, those that are due longest first: new ones, ones whose run was
 * lost, and ones whose sender died between sending and recording the outcome. Without a mail server they wait.
 * `only` limits it to one person's notifications.
 */
export async function handOnMail(ctx: Ctx, only: { userId?: string } = {}): Promise<void> {
  if (!findMailer()) return;
  const now = ctx.now();
  const rows = await claimDue.all(pool, { now, ...only });
  await sendEvents(
    rows.map(({ id }) => ({
      // Every dispatch has its own id, so that no engine drops it as a duplicate.
      id: `mail:${id}:${now.getTime()}`,
      name: "mail/due" as const,
      data: { mailId: id },
    })),
  );
}
