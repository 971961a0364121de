import { dollars } from "@/components/blocks/money/money";
import { callerName } from "@/components/callers/caller-name";
import type {
  BudgetEnforcement,
  BudgetOwner,
  BudgetPeriod,
  BudgetSpend,
  BudgetView,
} from "@/server/contract/budgets";

export const PERIODS: Record<BudgetPeriod, string> = { day: "Daily", month: "Monthly", total: "Total" };
export const NOW: Record<BudgetPeriod, string> = { day: "today", month: "this month", total: "so far" };
export const MODES: Record<BudgetEnforcement, string> = { prevent: "Prevent", warn: "Warn only", off: "Off" };

export function ownerName(scope: string, keyNames: ReadonlyMap<string, string>): string {
  const [kind, id = ""] = scope.split(":");
  if (kind === "project") return "This project";
  if (kind === "organization") return "Whole organization";
  if (kind === "guardrail") return "Own provider accounts";
  if (kind === "connection") return "Connection";
  return callerName({ id, name: keyNames.get(id) ?? null });
}

/** The name of a budget: its owner and period. */
export const budgetName = (
  budget: Pick<BudgetView, "scope" | "period">,
  keyNames: ReadonlyMap<string, string>,
) => `${ownerName(budget.scope, keyNames)}, ${PERIODS[budget.period].toLowerCase()}`;

/** Names the budget of the same owner and period that would be replaced; null if there is none. */
export function replacedBy(owner: BudgetOwner, period: BudgetPeriod, budgets: readonly BudgetView[]) {
  const { organizationId, projectId, principalId } = owner;
  const scope = projectId
    ? `project:${projectId}`
    : principalId
      ? `principal:${principalId}`
      : `organization:${organizationId}`;
  const before = budgets.find((each) => each.scope === scope && each.period === period);
  if (!before) return null;
  const isOff = before.enforcement === "off";
  return `This replaces the limit of ${dollars(before.ceilingMicros)}${isOff ? ", which is off" : ""}.`;
}

export const spentOf = ({ settledMicros, heldMicros }: BudgetSpend) => settledMicros + heldMicros;
