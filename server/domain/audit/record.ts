import { pool, type Queryable, type Tx } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { newId } from "@/server/ids";
import type { Json } from "@/server/step";

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

/** Writes down who did what, and from where; within the caller's transaction where one is handed in, so that neither is without the other. */
export async function record(ctx: Ctx, act: Act, database: Queryable | Tx = pool): Promise<void> {
  const { principal } = ctx;
  if ("auditEntry" in database) {
    const by = { actorId: principal.id, actorKind: principal.kind };
    const from = { requestId: ctx.requestId, address: ctx.address ?? null };
    const details = JSON.parse(JSON.stringify(act.details ?? {})); // what JSON is, for Prisma's type of it
    await database.auditEntry.create({
      data: { id: newId("audit"), ...act, details, ...by, ...from, createdAt: ctx.now() },
    });
    return;
  }
  await database.query(
    `INSERT INTO audit_entry (id, organization_id, project_id, actor_id, actor_kind, action, subject, details, request_id, address, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      newId("audit"),
      act.organizationId,
      act.projectId ?? null,
      principal.id,
      principal.kind,
      act.action,
      act.subject,
      JSON.stringify(act.details ?? {}),
      ctx.requestId,
      ctx.address ?? null,
      ctx.now(),
    ],
  );
}
