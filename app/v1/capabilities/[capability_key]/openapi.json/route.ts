import { serve } from "@/server/api/next";
import { describeCapabilityApi } from "@/server/operations/capability-documents";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(describeCapabilityApi);
