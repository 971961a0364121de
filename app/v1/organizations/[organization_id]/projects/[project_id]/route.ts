import { serve } from "@/server/api/endpoint";
import { getProject } from "@/server/api/v1/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getProject);
