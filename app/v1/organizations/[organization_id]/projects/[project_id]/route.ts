import { serve } from "@/server/api/endpoint";
import { getProject } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getProject);
