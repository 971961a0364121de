import { serve } from "@/server/api/endpoint";
import { listCompetitorOptions } from "@/server/operations/comparisons";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listCompetitorOptions);
