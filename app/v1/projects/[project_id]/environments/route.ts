import { serve } from "@/server/api/next";
import { listEnvironments } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listEnvironments);
