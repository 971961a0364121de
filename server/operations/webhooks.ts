import { endpoint } from "@/server/api/endpoint";
import {
  CreateDeliveryEndpoint,
  Delivery,
  DeliveryEndpoint,
  DeliveryEndpointList,
  DeliveryPage,
  DeliveryRef,
  EndpointRef,
  ListDeliveries,
  ListDeliveryEndpoints,
  UpdateDeliveryEndpoint,
} from "@/server/contract/webhooks";
import * as webhooks from "@/server/domain/webhooks";

const tags = ["Webhooks"];
const auth = ["service_principal", "human_session"] as const;

export const createDeliveryEndpoint = endpoint({
  method: "POST",
  path: "/v1/delivery-endpoints",
  summary: "Create a delivery endpoint",
  description:
    "Posts every job event to your URL, with the same body as GET /v1/jobs/{job_id}/events and with the headers and signature of Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature). Events are delivered at least once and not always in order: skip a webhook-id you have already seen, and sort a job's events by `id`. Respond with any 2xx to accept an event; any other response is retried after 5 s, 30 s, 2 min, 15 min, 1 h, 6 h and 24 h. An endpoint is disabled if it responds 410, or if all attempts of a delivery failed and no other delivery succeeded in the meantime.",
  tags,
  auth,
  scope: "webhooks:write",
  status: 201,
  body: CreateDeliveryEndpoint,
  output: DeliveryEndpoint,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { body }) => webhooks.createEndpoint(ctx, body),
});

export const listDeliveryEndpoints = endpoint({
  method: "GET",
  path: "/v1/delivery-endpoints",
  summary: "List delivery endpoints, newest first",
  tags,
  auth,
  scope: "jobs:read",
  query: ListDeliveryEndpoints,
  output: DeliveryEndpointList,
  errors: [],
  run: (ctx, { query }) => webhooks.listEndpoints(ctx, query),
});

export const updateDeliveryEndpoint = endpoint({
  method: "PATCH",
  path: "/v1/delivery-endpoints/{endpoint_id}",
  summary: "Update a delivery endpoint, or rotate its secret",
  tags,
  auth,
  scope: "webhooks:write",
  params: EndpointRef,
  body: UpdateDeliveryEndpoint,
  output: DeliveryEndpoint,
  errors: ["NotFound"],
  run: (ctx, { params, body }) => webhooks.updateEndpoint(ctx, params.endpoint_id, body),
});

export const disableDeliveryEndpoint = endpoint({
  method: "POST",
  path: "/v1/delivery-endpoints/{endpoint_id}/disable",
  summary: "Disable a delivery endpoint",
  tags,
  auth,
  scope: "webhooks:write",
  params: EndpointRef,
  output: DeliveryEndpoint,
  errors: ["NotFound"],
  run: (ctx, { params }) => webhooks.disableEndpoint(ctx, params.endpoint_id),
});

export const listDeliveries = endpoint({
  method: "GET",
  path: "/v1/deliveries",
  summary: "List deliveries, newest first",
  tags,
  auth,
  scope: "jobs:read",
  query: ListDeliveries,
  output: DeliveryPage,
  errors: [],
  run: (ctx, { query }) => webhooks.deliveries(ctx, query),
});

export const replayDelivery = endpoint({
  method: "POST",
  path: "/v1/deliveries/{delivery_id}/replay",
  summary: "Replay a delivery with the same event id and body",
  tags,
  auth,
  scope: "webhooks:write",
  params: DeliveryRef,
  output: Delivery,
  errors: ["NotFound", "Gone", "EndpointDisabled"],
  run: (ctx, { params }) => webhooks.replay(ctx, params.delivery_id),
});
