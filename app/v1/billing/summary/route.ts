import { serve } from "@/server/api/next";
import { billingSummary } from "@/server/operations/usage";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(billingSummary);
