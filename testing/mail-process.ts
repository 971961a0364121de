import { systemCtx } from "@/server/domain/ctx";
import * as notifications from "@/server/domain/notifications";

/* A process that sends one mail, and may be killed on the way (CAPSTAN_FAILPOINTS). */
const [, , mailId = ""] = process.argv;
await notifications.attemptMail(systemCtx("mail-process"), mailId);
process.exit(0);
