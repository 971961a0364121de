import { serve } from "@/server/api/next";
import { revokeApiKey } from "@/server/operations/keys";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(revokeApiKey);
