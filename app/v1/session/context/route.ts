import { serve } from "@/server/api/next";
import { getSessionContext } from "@/server/operations/session";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getSessionContext);
