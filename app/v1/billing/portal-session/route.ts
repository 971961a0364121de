import { serve } from "@/server/api/endpoint";
import { createPortalSession } from "@/server/api/v1/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createPortalSession);
