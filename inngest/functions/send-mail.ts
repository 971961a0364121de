import { mailDue } from "@/inngest/client";
import { flow } from "@/inngest/flow";
import * as notifications from "@/server/domain/notifications";

/** Sends one mail, retrying for more than a day. */
export default flow({
  id: "send-mail",
  event: mailDue,
  retries: 10,
  heldAs: "mails",
  run: (ctx, { mailId }, step) => notifications.sendMail(ctx, mailId, step),
});
