import { systemCtx } from "@/server/domain/ctx";
import { askForRefund } from "@/server/domain/payments";
import "@/server/domain/requests";

/* A process that requests one refund, and may be killed on the way (CAPSTAN_FAILPOINTS). */
const [, , refundId = ""] = process.argv;
await askForRefund(systemCtx("refund-process"), refundId);
process.exit(0);
