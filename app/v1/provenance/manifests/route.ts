import { serve } from "@/server/api/next";
import { createManifest } from "@/server/operations/provenance";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createManifest);
