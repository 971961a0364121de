import { serve } from "@/server/api/next";
import { createSpeech } from "@/server/operations/openai-media";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createSpeech);
