import type { Ctx } from "@/server/domain/ctx";
import { auditEntry } from "@/server/generated/schema";
import type { Transaction } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { type Column, column, names, type Of } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Organization id of audit entries that concern the whole installation. */
export const INSTALLATION = "installation";

export type Act = {
  organizationId: string;
  projectId?: string | null;
  /** e.g. budget.set, hold.resolved, wallet.credited */
  action: string;
  /** Id of the changed object. */
  subject: string;
  details?: Record<string, Json>;
};

export type AuditRow = Of<typeof auditEntry>;

/** Returns an audit entry for a statement that writes it together with the act. */
export const auditRow = (ctx: Ctx, { projectId = null, details = {}, ...act }: Act): AuditRow => ({
  id: newId("audit"),
  organization_id: act.organizationId,
  project_id: projectId,
  actor_id: ctx.principal.id,
  actor_kind: ctx.principal.kind,
  action: act.action,
  subject: act.subject,
  details,
  request_id: ctx.requestId,
  address: ctx.address ?? null,
  created_at: ctx.now(),
});

/** Type of the parameter that passes these entries to a statement. */
export const AUDIT: Column<AuditRow[] | null> = column("jsonb", true);
/**
 * SQL: the last common table of a statement that writes audit entries. It inserts the entries of `audit` once
 * per row of `from`, and none if `from` is empty.
 */
export const audited = (audit: string, from: string): string => `audited AS (
  INSERT INTO audit_entry (${names(auditEntry)})
  SELECT ${names(auditEntry, "entry")} FROM ${from}, jsonb_populate_recordset(NULL::audit_entry, ${audit}::jsonb) AS entry
)`;

const writing = statement("audit.record", {
  params: { audit: AUDIT },
  row: {},
  sql: `WITH act AS (SELECT), ${audited("$audit", "act")} SELECT FROM act`,
});

/** Records the act in the caller's transaction, so that both are committed or neither. */
export async function record(ctx: Ctx, act: Act, transaction: Transaction): Promise<void> {
  await writing.run(transaction, { audit: [auditRow(ctx, act)] });
}
