import { serve } from "@/server/api/endpoint";
import { createEmbeddings } from "@/server/api/v1/openai-media";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createEmbeddings);
