import { serve } from "@/server/api/next";
import { deleteApiKey } from "@/server/operations/keys";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(deleteApiKey);
