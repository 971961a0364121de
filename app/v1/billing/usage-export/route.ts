import { serve } from "@/server/api/next";
import { usageExport } from "@/server/operations/usage";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(usageExport);
