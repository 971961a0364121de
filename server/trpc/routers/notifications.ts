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
import { human, router } from "../init";

const Unread = z.object({ unread: z.int() });

export const notificationsRouter = router({
  list: human
    .input(ListNotifications)
    .output(NotificationPage)
    .query(({ ctx, input }) => notifications.list(ctx, input)),
  unread: human.output(Unread).query(async ({ ctx }) => ({ unread: await notifications.countUnread(ctx) })),
  markRead: human
    .input(MarkRead)
    .output(Unread)
    .mutation(async ({ ctx, input }) => ({ unread: await notifications.markRead(ctx, input) })),
  /** Mails of the installation, for its operators. */
  outbox: human
    .input(ListOutbox)
    .output(OutboxPage)
    .query(({ ctx, input }) => notifications.outbox(ctx, input)),
  outboxMail: human
    .input(MailRef)
    .output(OutboxMailDetail)
    .query(({ ctx, input }) => notifications.outboxMail(ctx, input.mail_id)),
});
