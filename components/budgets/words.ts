import { formatUsd } from "@/components/jobs/format-usd";
import type { BudgetEnforcement, BudgetPeriod, BudgetSpend, BudgetView } from "@/server/contract/budgets";

export const dollars = (micros: number) => formatUsd(micros / 1_000_000);

/** What a person typed, in micros; the browser has checked that it is a number. */
export const microsOf = (text: FormDataEntryValue | null) => Math.round(Number(text) * 1_000_000);

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
  return keyNames.get(id) ?? id;
}

/** How a name is part of a sentence. */
export const nameOf = (budget: Pick<BudgetView, "scope" | "period">, keyNames: ReadonlyMap<string, string>) =>
  `${ownerName(budget.scope, keyNames)}, ${PERIODS[budget.period].toLowerCase()}`;

export const spentOf = ({ settledMicros, heldMicros }: BudgetSpend) => settledMicros + heldMicros;
