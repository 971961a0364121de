import { serve } from "@/server/api/endpoint";
import { getReadiness } from "@/server/operations/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getReadiness);
