import { z } from "zod";
import {
  ListNotifications,
  ListOutbox,
  MailRef,
  MarkRead,
  NotificationPage,
  OutboxMailDetail,
  OutboxPage,
} from "@/server/contract/notifications";
import * as notifications from "@/server/domain/notifications";
import { router } from "../init";
import { does, Nothing, reads } from "../of";

const Unread = z.object({ unread: z.int() });

export const notificationsRouter = router({
  list: reads(ListNotifications, NotificationPage, notifications.list),
  unread: reads(Nothing, Unread, async (ctx) => ({ unread: await notifications.countUnread(ctx) })),
  markRead: does(MarkRead, Unread, async (ctx, input) => ({
    unread: await notifications.markRead(ctx, input),
  })),
  /** Mails of the installation, for its operators. */
  outbox: reads(ListOutbox, OutboxPage, notifications.outbox),
  outboxMail: reads(MailRef, OutboxMailDetail, (ctx, input) => notifications.outboxMail(ctx, input.mail_id)),
});
