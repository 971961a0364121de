import { serve } from "@/server/api/next";
import { createAlias, listAliases } from "@/server/operations/adapter-aliases";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createAlias, listAliases);
