import { deliveryDue, durable, inngest } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as webhooks from "@/server/domain/webhooks";

/**
 * Delivers one event to one endpoint, trying again for a good day. An endpoint that is slow or dead takes its
 * own places only. The delivery's row decides.
 */
export default inngest.createFunction(
  {
    id: "deliver-webhook",
    triggers: [deliveryDue],
    retries: 10,
    concurrency: { key: "event.data.endpointId", limit: 16 },
  },
  ({ event, ...given }) =>
    webhooks.deliver(systemCtx("deliver-webhook"), event.data.deliveryId, durable(given)),
);
