import { durable, inngest, refundDue } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as payments from "@/server/domain/payments";
import "@/server/domain/requests"; // sells commissions, whose money goes back here

/** Asks a payment's provider for its refund until it has taken it. The refund's row decides. */
export default inngest.createFunction(
  { id: "refund-payment", triggers: [refundDue], retries: 10, concurrency: 8 },
  ({ event, ...given }) =>
    payments.refundPayment(systemCtx("refund-payment"), event.data.refundId, durable(given)),
);
