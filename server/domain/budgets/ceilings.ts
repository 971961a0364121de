import type { SpendingCeiling } from "@/server/contract/diagnostics";
import { personBehind } from "@/server/domain/access";
import type { Ctx, Principal } from "@/server/domain/ctx";
import { readBudgets, toBudget } from "./rows";

/**
 * The stored limits that count what this key runs in its project (of a key without one: in no project in particular), and what
 * is left of each. It learns no more than a refusal by them would say.
 */
export async function ceilings(
  ctx: Ctx,
  principal: Extract<Principal, { kind: "service_principal" }>,
): Promise<SpendingCeiling[]> {
  const now = ctx.now();
  const rows = await readBudgets(
    now,
    `b.organization_id = $2 AND b.enforcement <> 'off' AND b.scope = ANY(capstan_scopes($2, $3, $4, $5, 'byok', '{}'))`,
    [principal.organizationId, principal.projectId, principal.id, personBehind(principal)],
  );
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
