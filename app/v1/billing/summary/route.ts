import { serve } from "@/server/api/endpoint";
import { billingSummary } from "@/server/operations/usage";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(billingSummary);
