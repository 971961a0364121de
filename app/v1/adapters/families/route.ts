import { serve } from "@/server/api/next";
import { listAdapterFamilies } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listAdapterFamilies);
