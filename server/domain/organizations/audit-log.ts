import type { AuditLogPage, AuditLogQuery, ListAuditLog } from "@/server/contract/audit";
import { access } from "@/server/domain/access";
import { logFile, logOf } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";

/** Audit entries of an organization, latest first. For its admins. */
export async function auditLog(ctx: Ctx, organizationId: string, query: ListAuditLog): Promise<AuditLogPage> {
  access.authorize(ctx, "admin", { organizationId });
  return logOf(organizationId, query);
}

/** All matching entries of the audit log as a CSV file. For its admins. */
export async function auditLogFile(
  ctx: Ctx,
  organizationId: string,
  query: AuditLogQuery,
): Promise<{ filename: string; content: AsyncIterable<Uint8Array> }> {
  access.authorize(ctx, "admin", { organizationId });
  const day = ctx.now().toISOString().slice(0, 10);
  return { filename: `audit-log-${day}.csv`, content: logFile(organizationId, query, ctx.signal?.()) };
}
