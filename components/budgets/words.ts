import { callerName } from "@/components/callers/caller-name";
import { formatUsd } from "@/components/jobs/format-usd";
import type {
  BudgetEnforcement,
  BudgetOwner,
  BudgetPeriod,
  BudgetSpend,
  BudgetView,
} from "@/server/contract/budgets";

export const dollars = (micros: number) => formatUsd(micros / 1_000_000);

export const PERIODS: Record<BudgetPeriod, string> = {
  day: "Each day",
  month: "Each month",
  total: "In total",
};
export const NOW: Record<BudgetPeriod, string> = { day: "today", month: "this month", total: "so far" };
export const MODES: Record<BudgetEnforcement, string> = {
  prevent: "Prevent",
  warn: "Warn only",
  off: "Off",
};

/** Whose ceiling, by the name the reader knows it by. */
export function ownerName(scope: string, keyNames: ReadonlyMap<string, string>): string {
  const [kind, id = ""] = scope.split(":");
  if (kind === "project") return "This project";
  if (kind === "organization") return "The whole organization";
  if (kind === "guardrail") return "Own provider accounts";
  if (kind === "connection") return "One connection";
  return callerName({ id, name: keyNames.get(id) ?? null });
}

/** How a name is part of a sentence. */
export const nameOf = (budget: Pick<BudgetView, "scope" | "period">, keyNames: ReadonlyMap<string, string>) =>
  `${ownerName(budget.scope, keyNames)}, ${PERIODS[budget.period].toLowerCase()}`;

/** What setting a ceiling does to the one of the same owner and period. */
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
  return `This replaces the ceiling of ${dollars(before.ceilingMicros)}${isOff ? ", which is off" : ""}.`;
}

export const spentOf = ({ settledMicros, heldMicros }: BudgetSpend) => settledMicros + heldMicros;
