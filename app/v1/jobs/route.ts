import { serve } from "@/server/api/next";
import { listJobs } from "@/server/operations/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listJobs);
