import { serve } from "@/server/api/next";
import { submitJob } from "@/server/operations/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(submitJob);
