import { serve } from "@/server/api/next";
import { getArtifact } from "@/server/operations/inputs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getArtifact);
