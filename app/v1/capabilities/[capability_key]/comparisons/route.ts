import { serve } from "@/server/api/endpoint";
import { createComparison } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createComparison);
