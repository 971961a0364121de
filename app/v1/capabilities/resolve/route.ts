import { serve } from "@/server/api/endpoint";
import { resolveCapability } from "@/server/operations/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(resolveCapability);
