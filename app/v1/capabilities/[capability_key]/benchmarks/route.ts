import { serve } from "@/server/api/endpoint";
import { describeBenchmarks } from "@/server/operations/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(describeBenchmarks);
