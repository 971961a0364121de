import { serve } from "@/server/api/next";
import { uploadArtifact } from "@/server/operations/inputs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(uploadArtifact);
