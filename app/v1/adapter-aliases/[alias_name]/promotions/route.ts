import { serve } from "@/server/api/next";
import { promoteAlias } from "@/server/operations/adapter-aliases";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(promoteAlias);
