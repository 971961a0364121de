import { serve } from "@/server/api/next";
import { listOpenAIModels } from "@/server/operations/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listOpenAIModels);
