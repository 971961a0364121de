import { serve } from "@/server/api/endpoint";
import { unbindProviderCredential } from "@/server/api/v1/credentials";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(unbindProviderCredential);
