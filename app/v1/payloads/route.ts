import { serve } from "@/server/api/next";
import { storePayload } from "@/server/operations/inputs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(storePayload);
