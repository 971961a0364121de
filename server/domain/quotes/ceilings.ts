import { enforcementOf } from "@/server/domain/envelope";
import { fail } from "@/server/errors";
import { type Micros, microsToUsd, usdToMicros } from "@/server/money";
import type { Json } from "@/server/step";
import type { Wanted } from "./wanted";

type Limited = Pick<Wanted, "execution" | "budget">;
type Ceiling = { field: string; micros: Micros; enforcement: string };

/**
 * The ceilings of this very call. maxCostUsd and budget.maximumEstimatedCost prevent unless their mode says otherwise,
 * the stricter mode where both say one; maximumCharge always prevents.
 */
function ceilingsOf({ execution, budget }: Limited, maxCostField: string): Ceiling[] {
  const { maxCostUsd } = execution.executionConstraints;
  const enforcement = enforcementOf({ execution, budget }) ?? "prevent";
  const { amountMicros, amountUsd, amountMinor } = execution.maximumCharge ?? {};
  const charges = [
    amountMicros,
    typeof amountUsd === "number" ? usdToMicros(amountUsd) : null,
    // Cents stand beside the exact amount as a rounded copy: they count where they are alone.
    typeof amountMinor === "number" && amountMicros == null && amountUsd == null
      ? amountMinor * 10_000
      : null,
  ];
  return [
    ...Object.entries({
      [maxCostField]: maxCostUsd,
      "budget.maximumEstimatedCost": budget?.maximumEstimatedCost,
    }).flatMap(([field, usd]) =>
      typeof usd === "number" ? [{ field, micros: usdToMicros(usd), enforcement }] : [],
    ),
    ...charges
      .filter((micros) => typeof micros === "number")
      .map((micros) => ({ field: "execution.maximumCharge", micros, enforcement: "prevent" })),
  ];
}

/** Holds a call to its own ceilings; answers with those that only warn. `maxCostField`: where its maxCostUsd was given. */
export function checkCallCeiling(
  maximumMicros: Micros,
  wanted: Limited,
  maxCostField = "execution.executionConstraints.maxCostUsd",
): Record<string, Json>[] {
  const exceeded = ceilingsOf(wanted, maxCostField)
    .filter(({ micros, enforcement }) => maximumMicros > micros && enforcement !== "off")
    .sort((a, b) => a.micros - b.micros);
  const first = exceeded.find(({ enforcement }) => enforcement === "prevent") ?? exceeded[0];
  if (!first) return [];
  const ceiling = microsToUsd(first.micros);
  if (first.enforcement === "warn") {
    return [
      {
        code: "BudgetExceeded",
        scope: "call",
        enforcement: "warn",
        remaining: ceiling,
        ceiling,
        estimatedCost: microsToUsd(maximumMicros),
      },
    ];
  }
  fail(
    "BudgetExceeded",
    `This may cost ${microsToUsd(maximumMicros)} USD, which is above this request's limit of ${ceiling} USD. Raise the limit or lower the cost.`,
    {
      scope: "call",
      field: first.field,
      enforcement: "prevent",
      estimatedCost: microsToUsd(maximumMicros),
      available: ceiling,
      ceiling,
    },
  );
}
