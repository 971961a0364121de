import type { BudgetView } from "@/server/contract/budgets";

const MICROS = 1_000_000;

/**
 * The limit that refused a run, from the details of the refusal (in dollars); null if the details have no amount, or the
 * limit counts jobs. A stored budget with the same amount available separates spent from reserved funds; without one, all used
 * funds count as spent.
 */
export function wallOf(
  { scope, period, estimatedCost, available, ceiling }: Record<string, unknown>,
  budgets: readonly BudgetView[],
) {
  if (typeof estimatedCost !== "number" || typeof available !== "number" || typeof ceiling !== "number")
    return null;
  if (ceiling === 0 && estimatedCost === 0) return null; // a limit on the number of jobs
  const [askedMicros, availableMicros, ceilingMicros] = [estimatedCost, available, ceiling].map((usd) =>
    Math.round(usd * MICROS),
  ) as [number, number, number];
  const budget = budgets.find((each) => each.scope === scope && each.period === period);
  const known =
    budget && [budget.testSpend, budget.spend].find((each) => each.availableMicros === availableMicros);
  const spend = known ?? {
    settledMicros: Math.max(0, ceilingMicros - availableMicros),
    heldMicros: 0,
    availableMicros,
  };
  return { askedMicros, ceilingMicros, spend, budget };
}
