import { serve } from "@/server/api/next";
import { listCompetitorOptions } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listCompetitorOptions);
