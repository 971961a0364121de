import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";

/** How long read and unread notifications are listed. Longer than any occasion can be repeated. */
const READ_DAYS = 180;
const UNREAD_DAYS = 400;
/** How long an email can be looked up after it was sent, given up or stored. */
const MAIL_DAYS = 90;
const BATCH = 1_000;

/** Deletes old notifications and emails in batches. Emails still to be sent stay. */
export async function prune(ctx: Ctx): Promise<void> {
  const now = ctx.now();
  await inBatches(
    `DELETE FROM mail WHERE id IN (
       SELECT id FROM mail WHERE state IN ('sent', 'failed', 'kept')
         AND coalesce(completed_at, created_at) < $1::timestamptz - make_interval(hours => 24 * $2)
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
    [now, MAIL_DAYS],
  );
  await inBatches(
    `DELETE FROM notification WHERE id IN (
       SELECT id FROM notification
       WHERE created_at < $1::timestamptz - make_interval(hours => 24 * CASE WHEN read_at IS NULL THEN $3::integer ELSE $2::integer END)
         AND NOT EXISTS (SELECT FROM mail WHERE notification_id = notification.id)
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
    [now, READ_DAYS, UNREAD_DAYS],
  );
}

async function inBatches(statement: string, values: unknown[]): Promise<void> {
  while (((await pool.query(statement, values)).rowCount ?? 0) >= BATCH);
}
