import { serve } from "@/server/api/next";
import { rotateProviderCredential } from "@/server/operations/credentials";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(rotateProviderCredential);
