import { serve } from "@/server/api/endpoint";
import { reviseCapabilityRequest } from "@/server/operations/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(reviseCapabilityRequest);
