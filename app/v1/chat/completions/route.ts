import { serve } from "@/server/api/endpoint";
import { createChatCompletion } from "@/server/operations/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createChatCompletion);
