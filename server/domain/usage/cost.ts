import type { ExecutionCost } from "@/server/contract/usage";
import { access } from "@/server/domain/access";
import { FEE, type HoldFacts, holdFactsOf } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { chargeOf, PROVIDER_COST } from "@/server/domain/executions";
import { fail } from "@/server/platform/errors/errors";
import { bool, int8, json, maybe, pick, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";

const VISIBLE = pick(SCOPE, "organizationIds projectId environment");
const readCost = statement("execution.read.cost", {
  params: {
    executionId: text,
    ...VISIBLE,
  },
  row: {
    billing_mode: text,
    estimated_micros: int8,
    is_test: bool,
    line_id: present(text, "its own id, or the comparison of a blind job"),
    hold: json<HoldFacts | null>(),
    cost_micros: maybe(int8),
    fee_micros: int8,
  },
  sql: `SELECT execution.billing_mode, estimated_micros, execution.is_test, line_id, ${holdFactsOf("execution.id")} AS hold,
       (${PROVIDER_COST})::bigint AS cost_micros, (${FEE})::bigint AS fee_micros
     FROM execution LEFT JOIN hold ON hold.execution_id = execution.id WHERE execution.id = $executionId
       AND ${inScope(VISIBLE, "execution")}`,
  prepared: true,
});

/**
 * Returns the current estimate, reservation and charge of an execution, and who pays. Null for a job of an
 * unjudged comparison, whose money is shown on the line of the comparison.
 */
export async function cost(ctx: Ctx, executionId: string): Promise<ExecutionCost | null> {
  const scope = access.authorize(ctx, "jobs:read", "rows");
  const [row] = await readInScope(readCost, scope, { executionId });
  if (!row) fail("NotFound", "There is no such execution.");
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
