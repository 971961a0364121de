import { serve } from "@/server/api/next";
import { revalidateAdapter } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(revalidateAdapter);
