import { expect, test } from "vitest";
import type { BudgetView } from "@/server/contract/budgets";
import { replacedBy } from "./words";

const SPEND = { periodStart: "", periodEnd: null, settledMicros: 0, heldMicros: 0, availableMicros: 0 };
const STANDING: BudgetView = {
  budgetId: "bgt_1",
  organizationId: "org_1",
  projectId: "cpr_1",
  scope: "project:cpr_1",
  period: "month",
  ceilingMicros: 10_000_000,
  ceilingUsd: 10,
  enforcement: "prevent",
  managedOnly: false,
  temporaryIncrease: null,
  effectiveCeilingMicros: 10_000_000,
  spend: SPEND,
  testSpend: SPEND,
  updatedAt: "",
};
const OF_KEY: BudgetView = { ...STANDING, scope: "principal:key_1", projectId: null, enforcement: "off" };

test("a budget that replaces another names the limit it replaces", () => {
  const all = [STANDING, OF_KEY];
  expect(replacedBy({ projectId: "cpr_1" }, "month", all)).toBe("This replaces the limit of $10.00.");
  expect(replacedBy({ organizationId: "org_1", principalId: "key_1" }, "month", all)).toBe(
    "This replaces the limit of $10.00, which is off.",
  );
});

test("a budget of another period or owner replaces nothing", () => {
  expect(replacedBy({ projectId: "cpr_1" }, "day", [STANDING])).toBeNull();
  expect(replacedBy({ organizationId: "org_1" }, "month", [STANDING])).toBeNull();
});
