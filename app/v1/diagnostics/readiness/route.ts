import { serve } from "@/server/api/next";
import { getReadiness } from "@/server/operations/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getReadiness);
