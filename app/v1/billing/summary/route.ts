import { serve } from "@/server/api/endpoint";
import { billingSummary } from "@/server/api/v1/usage";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(billingSummary);
