import type { ExecutionCost } from "@/server/contract/usage";
import { access } from "@/server/domain/access";
import { FEE, type HoldFacts, holdFactsOf } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { chargeOf, PROVIDER_COST } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";

type CostRow = {
  is_test: boolean;
  billing_mode: string;
  estimated_micros: number;
  hold: HoldFacts | null;
  cost_micros: number | null;
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
    text: `SELECT execution.billing_mode, estimated_micros, execution.is_test, line_id, ${holdFactsOf("execution.id")} AS hold,
       (${PROVIDER_COST})::bigint AS cost_micros, (${FEE})::bigint AS fee_micros
     FROM execution LEFT JOIN hold ON hold.execution_id = execution.id WHERE execution.id = $1
       AND ($2::text[] IS NULL OR execution.organization_id = ANY($2)) AND ($3::text IS NULL OR execution.project_id = $3)
       AND ($4::text IS NULL OR execution.environment = $4)`,
    values: [executionId, scope.organizationIds, scope.projectId, scope.environment],
  });
  const row = rows[0] ?? fail("NotFound", "There is no such execution.");
  if (row.line_id !== executionId) return null;
  const { hold } = row;
  const charge = chargeOf({ billingMode: row.billing_mode, estimatedMicros: row.estimated_micros, hold });
  return {
    charge,
    holdState: hold?.state ?? null,
    feeMicros: charge.chargedMicros === null ? null : row.fee_micros,
    providerCostMicros: row.cost_micros,
    paidBy: hold === null ? "nobody" : (hold.funding ?? (charge.state === "byok" ? "own_account" : "nobody")),
    test: row.is_test,
    corrected: Boolean(hold?.resolvedAt),
  };
}
