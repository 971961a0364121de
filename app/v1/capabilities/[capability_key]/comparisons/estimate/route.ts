import { serve } from "@/server/api/endpoint";
import { estimateComparison } from "@/server/api/v1/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(estimateComparison);
