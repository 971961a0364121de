import { serve } from "@/server/api/endpoint";
import { getManifest } from "@/server/operations/provenance";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getManifest);
