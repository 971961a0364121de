import { serve } from "@/server/api/endpoint";
import { unbindProviderCredential } from "@/server/operations/credentials";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(unbindProviderCredential);
