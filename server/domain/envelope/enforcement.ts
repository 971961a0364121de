type Said = {
  execution: { executionConstraints: { budgetEnforcement?: string | null | undefined } };
  budget?: { enforcement?: string | null | undefined } | null | undefined;
};

/** What a call asks of budgets, by either of its two fields: the stricter where both say something. Null: neither does. */
export function enforcementOf({ execution, budget }: Said): "off" | "warn" | "prevent" | null {
  const modes = [execution.executionConstraints.budgetEnforcement, budget?.enforcement];
  return (["prevent", "warn", "off"] as const).find((mode) => modes.includes(mode)) ?? null;
}
