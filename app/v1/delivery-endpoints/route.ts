import { serve } from "@/server/api/next";
import { createDeliveryEndpoint, listDeliveryEndpoints } from "@/server/operations/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createDeliveryEndpoint,
  listDeliveryEndpoints,
);
