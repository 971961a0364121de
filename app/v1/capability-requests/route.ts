import { serve } from "@/server/api/next";
import { createCapabilityRequest, listCapabilityRequests } from "@/server/operations/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createCapabilityRequest,
  listCapabilityRequests,
);
