import { serve } from "@/server/api/next";
import { getOpenAIModel } from "@/server/operations/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getOpenAIModel);
