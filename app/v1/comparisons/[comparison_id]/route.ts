import { serve } from "@/server/api/next";
import { getComparison } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getComparison);
