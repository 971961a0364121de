import { serve } from "@/server/api/endpoint";
import { getAlias } from "@/server/operations/adapter-aliases";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAlias);
