import { serve } from "@/server/api/next";
import { getAdapterWeights } from "@/server/operations/adapter-weights";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAdapterWeights);
