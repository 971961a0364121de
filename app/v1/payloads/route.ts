import { serve } from "@/server/api/endpoint";
import { storePayload } from "@/server/api/v1/inputs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(storePayload);
