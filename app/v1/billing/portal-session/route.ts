import { serve } from "@/server/api/endpoint";
import { createPortalSession } from "@/server/operations/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createPortalSession);
