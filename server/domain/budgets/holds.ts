import type { HoldPage, HoldView, ListHolds } from "@/server/contract/budgets";
import { access, EVERYTHING, isOperator, type ReadScope } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { findOwner } from "./owner";

export type HoldRow = {
  id: string;
  organization_id: string;
  project_id: string;
  execution_id: string;
  capability_key: string | null;
  status: string | null;
  principal_id: string;
  person_id: string | null;
  billing_mode: string;
  is_test: boolean;
  amount_micros: number;
  state: HoldView["state"];
  settled_micros: number | null;
  created_at: Date;
  resolved_at: Date | null;
  resolved_by: string | null;
  note: string | null;
  resolution: HoldView["resolution"];
};

export const toHold = (row: HoldRow): HoldView => ({
  holdId: row.id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  executionId: row.execution_id,
  capabilityKey: row.capability_key,
  status: row.status,
  principalId: row.principal_id,
  personId: row.person_id,
  billingMode: row.billing_mode,
  isTest: row.is_test,
  amountMicros: row.amount_micros,
  state: row.state,
  settledMicros: row.settled_micros,
  createdAt: row.created_at.toISOString(),
  resolvedAt: row.resolved_at?.toISOString() ?? null,
  resolvedBy: row.resolved_by,
  note: row.note,
  // Resolved before this was recorded, when only people could.
  resolution: row.resolution ?? (row.resolved_by === null ? null : "person"),
});

/** What the caller may see: a key with billing:read its project, people their organizations, an operator all. */
function scopeOf(ctx: Ctx): ReadScope {
  return isOperator(ctx) ? EVERYTHING : access.authorize(ctx, "billing:read", "rows");
}

/**
 * Reserved money, newest first: of executions that have not ended, and of those whose charge is unconfirmed. A comparison that is
 * not judged is one line.
 */
export async function listHolds(ctx: Ctx, query: ListHolds): Promise<HoldPage> {
  const scope = scopeOf(ctx);
  if (query.projectId) {
    if (isOperator(ctx)) await findOwner(ctx, { projectId: query.projectId }, "viewer");
    else await access.authorize(ctx, "billing:read", { projectId: query.projectId });
  }
  const isOwn = !query.organizationId || scope.organizationIds?.includes(query.organizationId);
  if (!isOwn && !isOperator(ctx)) fail("NotFound", "There is no such organization.");
  const limit = Number(query.limit ?? 50);
  const { rows } = await pool.query<HoldRow>(
    `SELECT * FROM hold_line AS hold
     WHERE ($1::text IS NULL OR hold.state = $1::text)
       AND ($2::text[] IS NULL OR hold.organization_id = ANY($2)) AND ($3::text IS NULL OR hold.project_id = $3)
       AND ($4::text IS NULL OR hold.project_id = $4) AND ($5::text IS NULL OR hold.organization_id = $5)
       AND ($6::text IS NULL OR hold.id < $6) AND ($8::boolean IS NULL OR hold.is_test = $8)
     ORDER BY hold.id DESC LIMIT $7`,
    [
      query.state ?? null,
      scope.organizationIds,
      scope.projectId,
      query.projectId ?? null,
      query.organizationId ?? null,
      readCursor("hold", query.cursor),
      limit + 1,
      query.test ?? null,
    ],
  );
  return pageOf(rows, limit, toHold);
}
