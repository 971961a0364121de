import { sendEvents } from "@/inngest/client";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { findMailer } from "./mailer";

/** How many mails one pass hands on: a backlog waits in its rows. */
const MOST_AT_ONCE = 200;
/** A mail that was handed to the engine and not begun is handed over again after this. */
export const WAKE_PATIENCE_MS = 120_000;

/**
 * Hands mails that are due to the durable engine, oldest first: new ones, ones whose run was lost, and ones whose sender
 * died between sending and writing down what became of it. Without a mail server they wait. `only` keeps it to one person.
 */
export async function handOnMail(ctx: Ctx, only: { userId?: string } = {}): Promise<void> {
  if (!findMailer()) return;
  const now = ctx.now();
  const { rows } = await pool.query<{ id: string }>(
    `WITH due AS (
       SELECT mail.id FROM mail
       WHERE state IN ('pending', 'sending') AND next_attempt_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
         AND ($3::text IS NULL OR EXISTS (
           SELECT FROM notification WHERE notification.id = notification_id AND user_id = $3))
       ORDER BY next_attempt_at LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED
     )
     UPDATE mail SET state = 'pending', lease_until = $2 FROM due WHERE mail.id = due.id RETURNING mail.id`,
    [now, new Date(now.getTime() + WAKE_PATIENCE_MS), only.userId ?? null],
  );
  await sendEvents(
    rows.map(({ id }) => ({
      // Every handing over has an id of its own, so that no engine takes it for a duplicate.
      id: `mail:${id}:${now.getTime()}`,
      name: "mail/due" as const,
      data: { mailId: id },
    })),
  );
}
