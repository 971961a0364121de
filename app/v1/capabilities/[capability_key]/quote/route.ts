import { serve } from "@/server/api/endpoint";
import { quoteCapability } from "@/server/api/v1/capabilities";

export const { POST } = serve(quoteCapability);
