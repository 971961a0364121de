import { serve } from "@/server/api/next";
import { getKeySet } from "@/server/operations/provenance";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getKeySet);
