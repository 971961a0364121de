import { serve } from "@/server/api/endpoint";
import { updateProject } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(updateProject);
