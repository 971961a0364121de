import type {
  ListNotifications,
  MarkRead,
  Notification,
  NotificationPage,
} from "@/server/contract/notifications";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { notification } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import {
  bool,
  type Given,
  int4,
  int8,
  maybe,
  names,
  type Of,
  pick,
  text,
  texts,
  timestamptz,
} from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { isOfAccount } from "./visible";

const ROW = pick(notification, "id kind title body href created_at read_at");
type Row = Of<typeof ROW>;

const READER = { userId: text, isOperator: bool, organizationIds: texts };
/**
 * SQL condition on the notifications that a person may see now: those of an organization that they belong to,
 * those about their own account, and for an operator all without an organization.
 */
const IS_VISIBLE = `user_id = $userId AND CASE WHEN organization_id IS NULL THEN $isOperator::boolean OR ${isOfAccount("notification")}
  ELSE organization_id = ANY($organizationIds::text[]) END`;

function reader({ principal }: Ctx): Given<typeof READER> {
  if (principal.kind !== "human_session")
    fail("AuthorizationFailed", "Only a signed-in person has notifications. Sign in to the panel.");
  const { id: userId, isOperator, memberships } = principal;
  return { userId, isOperator, organizationIds: [...memberships.keys()] };
}

const listVisible = statement("notification.list.visible", {
  params: { ...READER, after: maybe(text), limit: int8 },
  row: ROW,
  sql: `SELECT ${names(ROW)} FROM notification
    WHERE ${IS_VISIBLE} AND ($after::text IS NULL OR id < $after) ORDER BY id DESC LIMIT $limit`,
});

/** The notifications of the signed-in person, newest first, and how many of all are unread. */
export async function list(ctx: Ctx, { cursor, limit }: ListNotifications): Promise<NotificationPage> {
  const [rows, unread] = await Promise.all([
    listVisible.all(pool, {
      ...reader(ctx),
      after: readCursor("notification", cursor),
      limit: limit + 1,
    }),
    countUnread(ctx),
  ]);
  return { ...toPage(rows, limit, toNotification), unread };
}

const countVisible = statement("notification.count.unread", {
  params: READER,
  row: { count: int4 },
  sql: `SELECT count(*)::int AS count FROM notification WHERE ${IS_VISIBLE} AND read_at IS NULL`,
});

export async function countUnread(ctx: Ctx): Promise<number> {
  return (await countVisible.first(pool, reader(ctx)))?.count ?? 0;
}

const markVisible = statement("notification.update.read", {
  params: { ...READER, now: timestamptz, ids: maybe(texts) },
  sql: `UPDATE notification SET read_at = $now
    WHERE ${IS_VISIBLE} AND read_at IS NULL AND ($ids::text[] IS NULL OR id = ANY($ids))`,
});

/** Marks the named notifications, or all, of the caller as read. Returns the remaining unread count. */
export async function markRead(ctx: Ctx, which: MarkRead): Promise<number> {
  const ids = "ids" in which ? which.ids : null;
  await markVisible.run(pool, { ...reader(ctx), now: ctx.now(), ids });
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
