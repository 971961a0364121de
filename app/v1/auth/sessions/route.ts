import { serve } from "@/server/api/endpoint";
import { listSessions } from "@/server/api/v1/auth";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listSessions);
