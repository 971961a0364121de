import { serve } from "@/server/api/endpoint";
import { submitJob } from "@/server/api/v1/capabilities";

export const { POST } = serve(submitJob);
