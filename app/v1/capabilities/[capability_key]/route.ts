import { serve } from "@/server/api/endpoint";
import { describeCapability } from "@/server/api/v1/capabilities";

export const { GET } = serve(describeCapability);
