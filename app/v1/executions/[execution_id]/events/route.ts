import { serve } from "@/server/api/endpoint";
import { followExecution } from "@/server/api/v1/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(followExecution);
