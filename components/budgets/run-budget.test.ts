import { expect, test } from "vitest";
import type { BudgetView } from "@/server/contract/budgets";
import { tightestOf } from "./run-budget";

const spend = (availableMicros: number) => ({
  periodStart: "2026-11-01T00:00:00Z",
  periodEnd: null,
  settledMicros: 0,
  heldMicros: 0,
  availableMicros,
});
const budget = (
  budgetId: string,
  live: number,
  test: number,
  more: Partial<BudgetView> = {},
): BudgetView => ({
  budgetId,
  organizationId: "org_1",
  projectId: null,
  scope: "organization:org_1",
  period: "month",
  ceilingMicros: 100,
  ceilingUsd: 0.0001,
  enforcement: "prevent",
  managedOnly: false,
  temporaryIncrease: null,
  effectiveCeilingMicros: 100,
  spend: spend(live),
  testSpend: spend(test),
  updatedAt: "2026-11-01T00:00:00Z",
  ...more,
});
const found = (budgets: BudgetView[], provider: string, billingMode: "managed" | "byok" = "managed") =>
  tightestOf(budgets, { provider, billingMode })?.budget.budgetId;

test("a run is shown on the limit with the least left, of its own kind of money", () => {
  const budgets = [budget("a", 10, 90), budget("b", 20, 5), budget("c", 50, 50)];
  expect(found(budgets, "openai")).toBe("a");
  expect(found(budgets, "sandbox")).toBe("b");
});

test("a limit that is off, of another key, or without one's own accounts does not count the run", () => {
  const budgets = [
    budget("off", 1, 1, { enforcement: "off" }),
    budget("key", 2, 2, { scope: "principal:key_1" }),
    budget("managed", 3, 3, { managedOnly: true }),
    budget("counts", 4, 4, { scope: "project:cpr_1" }),
  ];
  expect(found(budgets, "openai")).toBe("managed");
  expect(found(budgets, "openai", "byok")).toBe("counts");
  expect(found([], "openai")).toBeUndefined();
});
