import { serve } from "@/server/api/endpoint";
import { listDeliveries } from "@/server/operations/webhooks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listDeliveries);
