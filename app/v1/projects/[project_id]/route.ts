import { serve } from "@/server/api/next";
import { updateProject } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(updateProject);
