import { serve } from "@/server/api/next";
import { submitCapabilityRequest } from "@/server/operations/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(submitCapabilityRequest);
