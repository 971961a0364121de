import { refundDue } from "@/inngest/client";
import { flow } from "@/inngest/flow";
import * as payments from "@/server/domain/payments";
import "@/server/domain/requests"; // registers commissions, whose refunds are booked here

/** Asks a payment's provider for a refund until it has accepted or refused it. */
export default flow({
  id: "refund-payment",
  event: refundDue,
  retries: 10,
  heldAs: "refunds",
  run: (ctx, { refundId }, step) => payments.refundPayment(ctx, refundId, step),
});
