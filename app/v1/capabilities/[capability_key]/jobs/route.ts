import { serve } from "@/server/api/endpoint";
import { submitJob } from "@/server/operations/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(submitJob);
