import { serve } from "@/server/api/next";
import { estimateComparison } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(estimateComparison);
