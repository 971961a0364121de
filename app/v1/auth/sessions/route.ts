import { serve } from "@/server/api/endpoint";
import { listSessions } from "@/server/operations/auth";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listSessions);
