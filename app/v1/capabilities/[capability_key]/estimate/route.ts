import { serve } from "@/server/api/endpoint";
import { estimateCapability } from "@/server/api/v1/capabilities";

export const { POST } = serve(estimateCapability);
