import { enforcementOf } from "@/server/domain/envelope";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, microsToUsd, usdText, usdToMicros } from "@/server/platform/money";
import type { RoutingRequest } from "./routing-request";

type Limited = Pick<RoutingRequest, "execution" | "budget">;
/**
 * `usd` is the amount as the caller wrote it. A ceiling below one micro rounds to zero, and then only a
 * free request fits.
 */
type Amount = { usd: number; micros: Micros };
type Ceiling = Amount & { field: string; enforcement: string };

const ofUsd = (usd: number): Amount => ({ usd, micros: usdToMicros(usd) });
const ofMicros = (micros: Micros): Amount => ({ usd: microsToUsd(micros), micros });

/**
 * Returns the ceilings of this request. maxCostUsd and budget.maximumEstimatedCost prevent unless the
 * request names another enforcement; if it names two, the stricter one counts. maximumCharge always
 * prevents.
 */
function ceilingsOf({ execution, budget }: Limited, maxCostField: string): Ceiling[] {
  const { maxCostUsd } = execution.executionConstraints;
  const enforcement = enforcementOf({ execution, budget }) ?? "prevent";
  const { amountMicros, amountUsd, amountMinor } = execution.maximumCharge ?? {};
  // Cents accompany the exact amount as a rounded copy, so they count only without it.
  const hasOnlyCents = amountMicros == null && amountUsd == null;
  const charges = [
    ...(typeof amountMicros === "number" ? [ofMicros(amountMicros)] : []),
    ...(typeof amountUsd === "number" ? [ofUsd(amountUsd)] : []),
    ...(typeof amountMinor === "number" && hasOnlyCents ? [ofMicros(amountMinor * 10_000)] : []),
  ];
  return [
    ...Object.entries({
      [maxCostField]: maxCostUsd,
      "budget.maximumEstimatedCost": budget?.maximumEstimatedCost,
    }).flatMap(([field, usd]) => (typeof usd === "number" ? [{ ...ofUsd(usd), field, enforcement }] : [])),
    ...charges.map((charge) => ({ ...charge, field: "execution.maximumCharge", enforcement: "prevent" })),
  ];
}

/**
 * Throws BudgetExceeded for a call above one of its own ceilings; returns one warning if all exceeded
 * ceilings only warn. `maxCostField` is the path at which the caller sent maxCostUsd.
 */
export function checkCallCeiling(
  maximumMicros: Micros,
  wanted: Limited,
  maxCostField = "execution.executionConstraints.maxCostUsd",
): Record<string, Json>[] {
  const exceeded = ceilingsOf(wanted, maxCostField)
    .filter(({ micros, enforcement }) => maximumMicros > micros && enforcement !== "off")
    .sort((a, b) => a.usd - b.usd);
  const first = exceeded.find(({ enforcement }) => enforcement === "prevent") ?? exceeded[0];
  if (!first) return [];
  const ceiling = first.usd;
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
    `This may cost ${usdText(microsToUsd(maximumMicros))} USD, which is above this request's limit of ${usdText(ceiling)} USD. Raise the limit or lower the cost.`,
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
