import { serve } from "@/server/api/endpoint";
import { getSessionDiagnostics } from "@/server/api/v1/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getSessionDiagnostics);
