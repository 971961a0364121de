import { serve } from "@/server/api/next";
import { deleteConnection, getConnection } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(deleteConnection, getConnection);
