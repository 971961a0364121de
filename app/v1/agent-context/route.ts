import { serve } from "@/server/api/endpoint";
import { getAgentContext } from "@/server/api/v1/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAgentContext);
