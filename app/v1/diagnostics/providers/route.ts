import { serve } from "@/server/api/endpoint";
import { getProviderDiagnostics } from "@/server/operations/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getProviderDiagnostics);
