import { serve } from "@/server/api/next";
import { createConnection, listConnections } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createConnection, listConnections);
