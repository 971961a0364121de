import { serve } from "@/server/api/next";
import { createComparison } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createComparison);
