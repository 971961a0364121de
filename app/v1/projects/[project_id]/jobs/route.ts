import { serve } from "@/server/api/next";
import { listProjectJobs } from "@/server/operations/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listProjectJobs);
