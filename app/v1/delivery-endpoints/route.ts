import { serve } from "@/server/api/endpoint";
import { createDeliveryEndpoint, listDeliveryEndpoints } from "@/server/api/v1/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createDeliveryEndpoint,
  listDeliveryEndpoints,
);
