import { serve } from "@/server/api/endpoint";
import { describeCapabilityApi } from "@/server/operations/capability-documents";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(describeCapabilityApi);
