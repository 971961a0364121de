import { serve } from "@/server/api/endpoint";
import { listExecutionTargets } from "@/server/api/v1/capabilities";

export const { GET } = serve(listExecutionTargets);
