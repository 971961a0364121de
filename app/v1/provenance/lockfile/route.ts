import { serve } from "@/server/api/next";
import { getLockfile } from "@/server/operations/provenance";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getLockfile);
