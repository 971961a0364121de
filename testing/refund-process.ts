import { systemCtx } from "@/server/domain/ctx";
import { askForRefund } from "@/server/domain/payments";
import "@/server/domain/requests";

/* Asks for one refund in a process of its own, which may die on the way (CAPSTAN_FAILPOINTS). */
const [, , refundId = ""] = process.argv;
await askForRefund(systemCtx("refund-process"), refundId);
process.exit(0);
