import { serve } from "@/server/api/next";
import { judgeComparison } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(judgeComparison);
