import { serve } from "@/server/api/endpoint";
import { listOpenAIModels } from "@/server/api/v1/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listOpenAIModels);
