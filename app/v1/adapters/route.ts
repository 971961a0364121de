import { serve } from "@/server/api/next";
import { listAdapters, registerAdapter } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listAdapters, registerAdapter);
