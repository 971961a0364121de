import { serve } from "@/server/api/endpoint";
import { getAuditLog } from "@/server/operations/audit-log";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAuditLog);
