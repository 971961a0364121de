import { serve } from "@/server/api/next";
import { createProviderCredential, listProviderCredentials } from "@/server/operations/credentials";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createProviderCredential,
  listProviderCredentials,
);
