import { serve } from "@/server/api/next";
import { getJobResult } from "@/server/operations/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getJobResult);
