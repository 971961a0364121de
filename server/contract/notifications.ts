import { z } from "zod";
import { DateTime, pageLimit } from "./common";

const Id = z.string().min(1).max(64);
const MOST_AT_ONCE = 100;

export const Notification = z.object({
  notificationId: z.string(),
  /** For example `commission.quote_ready`. */
  kind: z.string(),
  title: z.string(),
  body: z.string(),
  /** Path of the page that the notification opens. */
  href: z.string(),
  createdAt: DateTime,
  /** Null if unread. */
  readAt: DateTime.nullable(),
});
export type Notification = z.output<typeof Notification>;

export const ListNotifications = z.object({
  /** The `nextCursor` of the previous page, a notification id. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListNotifications = z.output<typeof ListNotifications>;
export const NotificationPage = z.object({
  items: z.array(Notification),
  /** Counts all unread notifications, not only those of this page. */
  unread: z.int(),
  nextCursor: z.string().optional(),
});
export type NotificationPage = z.output<typeof NotificationPage>;

/** The notifications to mark as read: those listed, or all. */
export const MarkRead = z.union([
  z.strictObject({ ids: z.array(Id).min(1).max(MOST_AT_ONCE) }),
  z.strictObject({ all: z.literal(true) }),
]);
export type MarkRead = z.output<typeof MarkRead>;

export const MailState = z.enum(["pending", "sending", "sent", "failed", "kept"]);

/** A mail of the outbox, as operators see it. */
export const OutboxMail = z.object({
  mailId: z.string(),
  recipient: z.string(),
  subject: z.string(),
  state: MailState,
  attempts: z.int(),
  lastError: z.string().nullable(),
  nextAttemptAt: DateTime.nullable(),
  createdAt: DateTime,
  completedAt: DateTime.nullable(),
});
export type OutboxMail = z.output<typeof OutboxMail>;

export const ListOutbox = z.object({
  state: MailState.optional(),
  /** The `nextCursor` of the previous page, a mail id. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListOutbox = z.output<typeof ListOutbox>;
export const OutboxPage = z.object({
  items: z.array(OutboxMail),
  /** Is a mail server configured? Without one, mails are kept unsent, and in production they are not written at all. */
  isSending: z.boolean(),
  nextCursor: z.string().optional(),
});
export type OutboxPage = z.output<typeof OutboxPage>;

export const MailRef = z.object({ mail_id: Id });
/** A mail with its text and HTML parts. */
export const OutboxMailDetail = OutboxMail.extend({ text: z.string(), html: z.string() });
export type OutboxMailDetail = z.output<typeof OutboxMailDetail>;
