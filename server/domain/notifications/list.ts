import type {
  ListNotifications,
  MarkRead,
  Notification,
  NotificationPage,
} from "@/server/contract/notifications";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";

type Row = {
  id: string;
  kind: string;
  title: string;
  body: string;
  href: string;
  created_at: Date;
  read_at: Date | null;
};

/**
 * The notifications a person may still see: of an organization they belong to, or as an operator. Uses parameters 1 to
 * 3.
 */
const VISIBLE = `user_id = $1 AND CASE WHEN organization_id IS NULL THEN $2::boolean ELSE organization_id = ANY($3::text[]) END`;

function reader({ principal }: Ctx): [userId: string, isOperator: boolean, organizationIds: string[]] {
  if (principal.kind !== "human_session")
    fail("AuthorizationFailed", "Only a signed-in person has notifications. Sign in to the panel.");
  return [principal.id, principal.isOperator, [...principal.memberships.keys()]];
}

/** The notifications of the signed-in person, newest first, and how many of all are unread. */
export async function list(ctx: Ctx, { cursor, limit }: ListNotifications): Promise<NotificationPage> {
  const who = reader(ctx);
  const [{ rows }, unread] = await Promise.all([
    pool.query<Row>(
      `SELECT * FROM notification WHERE ${VISIBLE} AND ($4::text IS NULL OR id < $4) ORDER BY id DESC LIMIT $5`,
      [...who, readCursor("notification", cursor), limit + 1],
    ),
    countUnread(ctx),
  ]);
  return { ...pageOf(rows, limit, toNotification), unread };
}

export async function countUnread(ctx: Ctx): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM notification WHERE ${VISIBLE} AND read_at IS NULL`,
    reader(ctx),
  );
  return rows[0]?.count ?? 0;
}

/** Marks the named notifications, or all, of the caller as read. Returns the remaining unread count. */
export async function markRead(ctx: Ctx, which: MarkRead): Promise<number> {
  const who = reader(ctx);
  const ids = "ids" in which ? which.ids : null;
  await pool.query(
    `UPDATE notification SET read_at = $4 WHERE ${VISIBLE} AND read_at IS NULL AND ($5::text[] IS NULL OR id = ANY($5))`,
    [...who, ctx.now(), ids],
  );
  return countUnread(ctx);
}

const toNotification = (row: Row): Notification => ({
  notificationId: row.id,
  kind: row.kind,
  title: row.title,
  body: row.body,
  href: row.href,
  createdAt: row.created_at.toISOString(),
  readAt: row.read_at?.toISOString() ?? null,
});
