import { serve } from "@/server/api/next";
import { updateDeliveryEndpoint } from "@/server/operations/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(updateDeliveryEndpoint);
