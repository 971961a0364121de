import { serve } from "@/server/api/endpoint";
import { selectJobVariant } from "@/server/operations/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(selectJobVariant);
