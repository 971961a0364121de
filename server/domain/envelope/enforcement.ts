type Said = {
  execution: { executionConstraints: { budgetEnforcement?: string | null | undefined } };
  budget?: { enforcement?: string | null | undefined } | null | undefined;
};

/** Returns the stricter of the two budget modes that a call may set, or null if it sets neither. */
export function enforcementOf({ execution, budget }: Said): "off" | "warn" | "prevent" | null {
  const modes = [execution.executionConstraints.budgetEnforcement, budget?.enforcement];
  return (["prevent", "warn", "off"] as const).find((mode) => modes.includes(mode)) ?? null;
}
