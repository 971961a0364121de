import { serve } from "@/server/api/next";
import { previewAdapterSource } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(previewAdapterSource);
