import { serve } from "@/server/api/endpoint";
import { getSessionContext } from "@/server/api/v1/session";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getSessionContext);
