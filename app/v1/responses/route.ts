import { serve } from "@/server/api/next";
import { createResponse } from "@/server/operations/openai";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createResponse);
