import { serve } from "@/server/api/next";
import { disableDeliveryEndpoint } from "@/server/operations/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(disableDeliveryEndpoint);
