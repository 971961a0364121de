import { deliveryDue } from "@/inngest/client";
import { flow } from "@/inngest/flow";
import * as webhooks from "@/server/domain/webhooks";

/** Delivers one event to one endpoint, retrying for more than a day. */
export default flow({
  id: "deliver-webhook",
  event: deliveryDue,
  retries: 10,
  heldAs: "deliveries",
  run: (ctx, { deliveryId }, step) => webhooks.deliver(ctx, deliveryId, step),
});
