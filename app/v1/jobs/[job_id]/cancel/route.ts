import { serve } from "@/server/api/endpoint";
import { cancelJob } from "@/server/api/v1/jobs";

export const { POST } = serve(cancelJob);
