import { serve } from "@/server/api/endpoint";
import { getJobResult } from "@/server/api/v1/jobs";

export const { GET } = serve(getJobResult);
