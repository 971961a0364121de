import { serve } from "@/server/api/endpoint";
import { deleteApiKey } from "@/server/operations/keys";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(deleteApiKey);
