import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { int4, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** How long read and unread notifications are listed: longer than an occasion can be announced again. */
const READ_DAYS = 180;
const UNREAD_DAYS = 400;
/** How long an email can be looked up after it was sent, given up or stored. */
const MAIL_DAYS = 90;
const BATCH = 1_000;

const pruneMails = statement("mail.delete.old", {
  params: { now: timestamptz, days: int4 },
  sql: `DELETE FROM mail WHERE id IN (
       SELECT id FROM mail WHERE state IN ('sent', 'failed', 'kept')
         AND coalesce(completed_at, created_at) < $now::timestamptz - make_interval(hours => 24 * $days)
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
});
const pruneNotifications = statement("notification.delete.old", {
  params: { now: timestamptz, readDays: int4, unreadDays: int4 },
  sql: `DELETE FROM notification WHERE id IN (
       SELECT id FROM notification
       WHERE created_at < $now::timestamptz
         - make_interval(hours => 24 * CASE WHEN read_at IS NULL THEN $unreadDays::integer ELSE $readDays::integer END)
         AND NOT EXISTS (SELECT FROM mail WHERE notification_id = notification.id)
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
});

/** Deletes old notifications and emails in batches. Emails still to be sent stay. */
export async function prune(ctx: Ctx): Promise<void> {
  const now = ctx.now();
  while ((await pruneMails.count(pool, { now, days: MAIL_DAYS })) >= BATCH);
  const days = { readDays: READ_DAYS, unreadDays: UNREAD_DAYS };
  while ((await pruneNotifications.count(pool, { now, ...days })) >= BATCH);
}
