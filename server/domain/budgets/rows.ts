import type { BudgetSpend, BudgetView } from "@/server/contract/budgets";
import { budget } from "@/server/generated/schema";
import { microsToUsd } from "@/server/platform/money";
import { json, maybe, type Of, type Shape, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

type Counted = { heldMicros: number; settledMicros: number };

const BUDGET = {
  ...budget,
  period_start: timestamptz,
  period_end: maybe(timestamptz),
  live: json<Counted | null>(),
  test: json<Counted | null>(),
};
export type BudgetRow = Of<typeof BUDGET>;

/** SQL condition: the budget `b` counts the hold `h`. */
const COUNTS = `h.organization_id = b.organization_id AND (NOT b.managed_only OR h.billing_mode = 'managed')
  AND b.scope = ANY(capstan_scopes(h.organization_id, h.project_id, h.principal_id, h.person_id, h.billing_mode, h.credential_ids))`;

/** SQL condition: the hold `h` still reserves its amount. */
const HELD = "h.state IN ('open', 'ambiguous')";

/**
 * Reads the counted window of the current period. No window is kept for a budget that is off, so its holds
 * are summed.
 */
const spendOf = (isTest: boolean) => `CASE WHEN b.enforcement <> 'off' THEN (
    SELECT json_build_object('heldMicros', w.held_micros, 'settledMicros', w.settled_micros)
    FROM budget_window w
    WHERE w.budget_id = b.id AND w.period_start = current.start AND w.is_test = ${isTest})
  ELSE (
    SELECT json_build_object(
      'heldMicros', coalesce(sum(h.amount_micros) FILTER (WHERE ${HELD}), 0),
      'settledMicros', coalesce(sum(h.settled_micros), 0))
    FROM hold h WHERE ${COUNTS} AND h.is_test = ${isTest} AND h.created_at >= current.start) END`;

/** Selects budgets `b` by a condition, with their current spend. */
export const budgetsBy = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, {
    params: { now: timestamptz, ...params },
    row: BUDGET,
    sql: `SELECT b.*, current.start AS period_start,
       CASE b.period WHEN 'day' THEN current.start + interval '24 hours'
         WHEN 'month' THEN (current.start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' END AS period_end,
       ${spendOf(false)} AS live, ${spendOf(true)} AS test
     FROM budget b, LATERAL (SELECT capstan_period_start(b.period, $now::timestamptz) AS start) current
     WHERE ${condition}
     ORDER BY capstan_scope_rank(b.scope), b.scope, array_position(ARRAY['day', 'month', 'total'], b.period::text)`,
  });

export const readBudget = budgetsBy("budget.read", { id: text }, "b.id = $id");

/** Returns the ceiling plus a temporary increase that has not expired. */
function ceilingAt(row: BudgetRow, now: Date): number {
  const lasts = row.increase_until !== null && row.increase_until > now;
  return row.ceiling_micros + (lasts ? row.increase_micros : 0);
}

function toSpend(row: BudgetRow, counted: Counted | null, now: Date): BudgetSpend {
  const { heldMicros, settledMicros } = counted ?? { heldMicros: 0, settledMicros: 0 };
  return {
    periodStart: row.period_start.toISOString(),
    periodEnd: row.period_end?.toISOString() ?? null,
    settledMicros,
    heldMicros,
    availableMicros: Math.max(0, ceilingAt(row, now) - heldMicros - settledMicros),
  };
}

/** Returns a budget as the API shows it, with its temporary increase until that expires. */
export function toBudget(row: BudgetRow, now: Date): BudgetView {
  const { increase_until: until, increase_reason: reason } = row;
  return {
    budgetId: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    scope: row.scope,
    period: row.period,
    ceilingMicros: row.ceiling_micros,
    ceilingUsd: microsToUsd(row.ceiling_micros),
    enforcement: row.enforcement,
    managedOnly: row.managed_only,
    temporaryIncrease:
      until && until > now
        ? { amountMicros: row.increase_micros, until: until.toISOString(), reason: reason ?? "" }
        : null,
    effectiveCeilingMicros: ceilingAt(row, now),
    spend: toSpend(row, row.live, now),
    testSpend: toSpend(row, row.test, now),
    updatedAt: row.updated_at.toISOString(),
  };
}
