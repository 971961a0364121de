import { serve } from "@/server/api/next";
import { replayDelivery } from "@/server/operations/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(replayDelivery);
