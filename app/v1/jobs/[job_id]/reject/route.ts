import { serve } from "@/server/api/next";
import { rejectJob } from "@/server/operations/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(rejectJob);
