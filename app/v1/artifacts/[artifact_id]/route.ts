import { serve } from "@/server/api/endpoint";
import { getArtifact } from "@/server/api/v1/inputs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getArtifact);
