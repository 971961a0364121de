import { serve } from "@/server/api/next";
import { changeAdapter, deleteAdapter, getAdapter } from "@/server/operations/adapters";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  changeAdapter,
  deleteAdapter,
  getAdapter,
);
