import { serve } from "@/server/api/endpoint";
import { createChatCompletion } from "@/server/api/v1/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createChatCompletion);
