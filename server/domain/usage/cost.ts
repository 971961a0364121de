import type { ExecutionCost } from "@/server/contract/usage";
import { pool } from "@/server/db";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
import { FEE } from "./count";

type CostRow = {
  status: string;
  is_test: boolean;
  billing_mode: string;
  estimated_micros: number;
  actual_micros: number | null;
  hold_state: ExecutionCost["holdState"];
  amount_micros: number | null;
  settled_micros: number | null;
  funding: "allowance" | "wallet" | null;
  resolved_by: string | null;
  fee_micros: number;
  line_id: string;
};

/**
 * What an execution was estimated at, has reserved, was charged, and who pays; as its rows have it now. Null: it
 * is part of the line of its comparison, which is not judged.
 */
export async function cost(ctx: Ctx, executionId: string): Promise<ExecutionCost | null> {
  const scope = access.authorize(ctx, "jobs:read", "rows");
  const { rows } = await pool.query<CostRow>({
    name: "cost-of",
    text: `SELECT execution.status, execution.billing_mode, estimated_micros, actual_micros, hold.state AS hold_state,
       hold.amount_micros, hold.settled_micros, hold.funding, hold.resolved_by, execution.is_test, line_id, (${FEE})::bigint AS fee_micros
     FROM execution LEFT JOIN hold ON hold.execution_id = execution.id WHERE execution.id = $1
       AND ($2::text[] IS NULL OR execution.organization_id = ANY($2)) AND ($3::text IS NULL OR execution.project_id = $3)
       AND ($4::text IS NULL OR execution.environment = $4)`,
    values: [executionId, scope.organizationIds, scope.projectId, scope.environment],
  });
  const row = rows[0] ?? fail("NotFound", "There is no such execution.");
  if (row.line_id !== executionId) return null;
  const hasEnded = ["succeeded", "failed", "ambiguous", "canceled"].includes(row.status);
  const isOpen = row.hold_state === "open" || row.hold_state === "ambiguous" || !hasEnded;
  return {
    estimateMicros: row.estimated_micros,
    heldMicros: row.amount_micros ?? 0,
    holdState: row.hold_state,
    chargedMicros: isOpen ? null : (row.settled_micros ?? 0),
    feeMicros: isOpen ? null : row.fee_micros,
    providerCostMicros: row.actual_micros,
    paidBy:
      row.hold_state === null
        ? "nobody"
        : (row.funding ?? (row.billing_mode === "byok" ? "own_account" : "nobody")),
    test: row.is_test,
    corrected: row.resolved_by !== null,
  };
}
