import { serve } from "@/server/api/endpoint";
import { deleteConnection, getConnection } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(deleteConnection, getConnection);
