import { serve } from "@/server/api/endpoint";
import { getAdapterWeights } from "@/server/operations/adapter-weights";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAdapterWeights);
