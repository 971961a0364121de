import { serve } from "@/server/api/next";
import { suggestAdapter } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(suggestAdapter);
