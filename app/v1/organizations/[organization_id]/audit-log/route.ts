import { serve } from "@/server/api/endpoint";
import { getAuditLog } from "@/server/api/v1/audit-log";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAuditLog);
