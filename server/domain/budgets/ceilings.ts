import type { SpendingCeiling } from "@/server/contract/diagnostics";
import { personBehind } from "@/server/domain/access";
import type { Ctx, Principal } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { maybe, text } from "@/server/sql/column";
import { budgetsBy, toBudget } from "./rows";

const listCounting = budgetsBy(
  "budget.list.counting_key",
  { organizationId: text, projectId: maybe(text), principalId: text, personId: maybe(text) },
  `b.organization_id = $organizationId AND b.enforcement <> 'off'
     AND b.scope = ANY(capstan_scopes($organizationId, $projectId, $principalId, $personId, 'byok', '{}'))`,
);

/**
 * Returns the active limits that count this key's executions in its project, and the remaining amount of
 * each. A key without a project sees no project limits. The answer reveals no more than a refusal would.
 */
export async function ceilings(
  ctx: Ctx,
  principal: Extract<Principal, { kind: "service_principal" }>,
): Promise<SpendingCeiling[]> {
  const now = ctx.now();
  const rows = await listCounting.all(pool, {
    now,
    organizationId: principal.organizationId,
    projectId: principal.projectId,
    principalId: principal.id,
    personId: personBehind(principal),
  });
  return rows.map((row) => {
    const { scope, period, enforcement, effectiveCeilingMicros, spend, testSpend } = toBudget(row, now);
    return {
      scope,
      period,
      enforcement,
      ceilingMicros: effectiveCeilingMicros,
      availableMicros: spend.availableMicros,
      testAvailableMicros: testSpend.availableMicros,
      periodEnd: spend.periodEnd,
    };
  });
}
