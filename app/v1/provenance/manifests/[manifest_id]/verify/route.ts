import { serve } from "@/server/api/next";
import { verifyManifest } from "@/server/operations/provenance";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(verifyManifest);
