import { serve } from "@/server/api/next";
import { getProviderDiagnostics } from "@/server/operations/diagnostics";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getProviderDiagnostics);
