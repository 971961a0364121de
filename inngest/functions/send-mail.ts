import { durable, inngest, mailDue } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as notifications from "@/server/domain/notifications";

/** Sends one mail, trying again for a good day; a few at once, since mail servers ask for that. The mail's row decides. */
export default inngest.createFunction(
  { id: "send-mail", triggers: [mailDue], retries: 10, concurrency: 4 },
  ({ event, ...given }) => notifications.sendMail(systemCtx("send-mail"), event.data.mailId, durable(given)),
);
