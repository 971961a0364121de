import { serve } from "@/server/api/next";
import { createApiKey, listApiKeys } from "@/server/operations/keys";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createApiKey, listApiKeys);
