import { InProject, SHORT_PAGES } from "@/server/contract/common";
import {
  CreateDeliveryEndpoint,
  Delivery,
  DeliveryEndpoint,
  DeliveryEndpointList,
  DeliveryPage,
  ListDeliveries,
  UpdateDeliveryEndpoint,
} from "@/server/contract/webhooks";
import * as webhooks from "@/server/domain/webhooks";
import { byKeysAndPeople, operations } from "./define";

const write = operations("Webhooks", byKeysAndPeople("webhooks:write"));
const read = operations("Webhooks", byKeysAndPeople("webhooks:read"));

export const createDeliveryEndpoint = write.post("/v1/delivery-endpoints", {
  summary: "Create a delivery endpoint",
  description:
    "Posts every job event to your URL, with the same body as GET /v1/jobs/{job_id}/events and with the headers and signature of Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature). Events are delivered at least once and not always in order: skip a webhook-id you have already seen, and sort a job's events by `id`. Respond with any 2xx to accept an event; any other response is retried after 5 s, 30 s, 2 min, 15 min, 1 h, 6 h and 24 h. An endpoint is disabled if it responds 410, or if all attempts of a delivery failed and no other delivery succeeded in the meantime.",
  status: 201,
  body: CreateDeliveryEndpoint,
  example: {
    url: "https://example.com/hooks",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    eventTypes: ["job.succeeded", "job.failed"],
  },
  output: DeliveryEndpoint,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { body }) => webhooks.createEndpoint(ctx, body),
});

export const listDeliveryEndpoints = read.get("/v1/delivery-endpoints", {
  summary: "List delivery endpoints, newest first",
  query: InProject,
  output: DeliveryEndpointList,
  run: (ctx, { query }) => webhooks.listEndpoints(ctx, query),
});

export const updateDeliveryEndpoint = write.patch("/v1/delivery-endpoints/{endpoint_id}", {
  summary: "Update a delivery endpoint, or rotate its secret",
  body: UpdateDeliveryEndpoint,
  example: { enabled: false },
  output: DeliveryEndpoint,
  run: (ctx, { endpoint_id, body }) => webhooks.updateEndpoint(ctx, endpoint_id, body),
});

export const disableDeliveryEndpoint = write.post("/v1/delivery-endpoints/{endpoint_id}/disable", {
  summary: "Disable a delivery endpoint",
  output: DeliveryEndpoint,
  run: (ctx, { endpoint_id }) => webhooks.disableEndpoint(ctx, endpoint_id),
});

export const listDeliveries = read.get("/v1/deliveries", {
  summary: "List deliveries, newest first",
  description: SHORT_PAGES,
  query: ListDeliveries,
  output: DeliveryPage,
  run: (ctx, { query }) => webhooks.deliveries(ctx, query),
});

export const replayDelivery = write.post("/v1/deliveries/{delivery_id}/replay", {
  summary: "Replay a delivery with the same event id and body",
  output: Delivery,
  errors: ["Gone", "EndpointDisabled"],
  run: (ctx, { delivery_id }) => webhooks.replay(ctx, delivery_id),
});
