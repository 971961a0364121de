import { serve } from "@/server/api/next";
import { getAuditLog } from "@/server/operations/audit-log";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getAuditLog);
