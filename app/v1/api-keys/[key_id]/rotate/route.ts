import { serve } from "@/server/api/next";
import { rotateApiKey } from "@/server/operations/keys";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(rotateApiKey);
