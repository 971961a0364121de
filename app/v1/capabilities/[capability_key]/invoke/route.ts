import { serve } from "@/server/api/endpoint";
import { invokeCapability } from "@/server/api/v1/capabilities";

export const { POST } = serve(invokeCapability);
