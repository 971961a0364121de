import { systemCtx } from "@/server/domain/ctx";
import * as notifications from "@/server/domain/notifications";

/* Sends one mail in a process of its own, which may die on the way (CAPSTAN_FAILPOINTS). */
const [, , mailId = ""] = process.argv;
await notifications.attemptMail(systemCtx("mail-process"), mailId);
process.exit(0);
