import { serve } from "@/server/api/endpoint";
import { listEnvironments } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listEnvironments);
