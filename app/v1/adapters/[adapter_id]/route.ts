import { serve } from "@/server/api/next";
import { deleteAdapter, getAdapter } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(deleteAdapter, getAdapter);
