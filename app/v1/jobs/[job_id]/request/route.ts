import { serve } from "@/server/api/next";
import { getJobRequest } from "@/server/operations/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getJobRequest);
