import { serve } from "@/server/api/endpoint";
import { createCapabilityRequest, listCapabilityRequests } from "@/server/api/v1/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createCapabilityRequest,
  listCapabilityRequests,
);
