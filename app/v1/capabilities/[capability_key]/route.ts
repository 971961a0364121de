import { serve } from "@/server/api/next";
import { describeCapability } from "@/server/operations/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(describeCapability);
