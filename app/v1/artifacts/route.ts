import { serve } from "@/server/api/endpoint";
import { uploadArtifact } from "@/server/operations/inputs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(uploadArtifact);
