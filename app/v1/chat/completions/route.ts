import { serve } from "@/server/api/next";
import { createChatCompletion } from "@/server/operations/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createChatCompletion);
