import { serve } from "@/server/api/endpoint";
import { createCapabilityRequest, listCapabilityRequests } from "@/server/operations/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createCapabilityRequest,
  listCapabilityRequests,
);
