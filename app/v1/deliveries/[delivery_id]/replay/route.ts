import { serve } from "@/server/api/endpoint";
import { replayDelivery } from "@/server/operations/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(replayDelivery);
