import type { Ctx } from "@/server/domain/ctx";
import { auditEntry } from "@/server/generated/schema";
import type { Transaction, Tx } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { type Column, column, names, type Of } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Where acts are kept that concern no organization but the installation. */
export const INSTALLATION = "installation";

export type Act = {
  organizationId: string;
  projectId?: string | null;
  /** e.g. budget.set, hold.resolved, wallet.credited */
  action: string;
  /** The id of what it was done to. */
  subject: string;
  details?: Record<string, Json>;
};

export type AuditRow = Of<typeof auditEntry>;

/** Who did what, and from where, for a statement that writes it with the act itself. */
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

/** The parameter of such a statement. */
export const AUDIT: Column<AuditRow[] | null> = column("jsonb", true);
/** Its last common table: writes the rows of the parameter `audit` for each row of `from`, so for none where nothing was done. */
export const audited = (audit: string, from: string): string => `audited AS (
  INSERT INTO audit_entry (${names(auditEntry)})
  SELECT ${names(auditEntry, "entry")} FROM ${from}, jsonb_populate_recordset(NULL::audit_entry, ${audit}::jsonb) AS entry
)`;

const writing = statement("audit.record", {
  params: { audit: AUDIT },
  row: {},
  sql: `WITH act AS (SELECT), ${audited("$audit", "act")} SELECT FROM act`,
});

/** Writes down who did what, and from where, in the transaction of the act: neither is there without the other. */
export async function record(ctx: Ctx, act: Act, transaction: Transaction | Tx): Promise<void> {
  const audit = [auditRow(ctx, act)];
  if ("query" in transaction) await writing.all(transaction, { audit });
  else
    await transaction.$executeRaw`
      INSERT INTO audit_entry SELECT * FROM jsonb_populate_recordset(NULL::audit_entry, ${JSON.stringify(audit)}::jsonb)`;
}
