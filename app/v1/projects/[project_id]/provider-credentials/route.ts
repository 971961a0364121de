import { serve } from "@/server/api/endpoint";
import { connectProjectCredential } from "@/server/api/v1/credentials";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(connectProjectCredential);
