import { serve } from "@/server/api/endpoint";
import { resolveCapability } from "@/server/api/v1/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(resolveCapability);
