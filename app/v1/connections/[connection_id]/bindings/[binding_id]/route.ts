import { serve } from "@/server/api/next";
import { unbindConnection } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(unbindConnection);
