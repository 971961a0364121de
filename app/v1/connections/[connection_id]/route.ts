import { serve } from "@/server/api/endpoint";
import { deleteConnection, getConnection } from "@/server/api/v1/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(deleteConnection, getConnection);
