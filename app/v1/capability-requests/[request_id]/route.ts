import { serve } from "@/server/api/next";
import { getCapabilityRequest } from "@/server/operations/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getCapabilityRequest);
