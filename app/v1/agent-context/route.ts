import { serve } from "@/server/api/next";
import { getAgentContext } from "@/server/operations/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAgentContext);
