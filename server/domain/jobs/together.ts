import type { Settlement } from "@/server/domain/executions";
import type { Micros } from "@/server/money";
import type { Usage } from "@/server/providers/define";
import type { Ended } from "./ended";
import type { AttemptRow } from "./rows";

/** What one call came to, as far as money goes. */
export type Part = {
  provider: string;
  settlement: Settlement;
  costMicros: Micros | null;
  usage: Usage | null;
};

/** The parts of an execution: the calls that were answered before, and the one it ends with. */
export function partsOf(
  earlier: AttemptRow[],
  last: { provider: string },
  { outcome, observed }: Pick<Ended, "outcome" | "observed">,
): Part[] {
  return [
    ...earlier.map(({ provider, answer, cost_micros, usage }) => ({
      provider,
      settlement: answer?.settlement ?? ("ambiguous" as const),
      costMicros: cost_micros,
      usage,
    })),
    {
      provider: last.provider,
      settlement: outcome.settlement,
      costMicros: observed.costMicros,
      usage: observed.usage,
    },
  ];
}

/**
 * How the money of several calls ends as one. What nobody knows of one of them nobody knows of the whole: it stays ambiguous,
 * or is settled at the whole hold. Else it is the sum, and nothing is charged where nothing ran.
 */
export function together(parts: Part[]): { settlement: Settlement; costMicros: Micros | null } {
  const has = (settlement: Settlement) => parts.some((part) => part.settlement === settlement);
  if (has("ambiguous")) return { settlement: "ambiguous", costMicros: null };
  if (has("hold")) return { settlement: "hold", costMicros: null };
  if (!has("cost")) return { settlement: "released", costMicros: parts.at(-1)?.costMicros ?? null };
  const costs = parts.filter((part) => part.settlement === "cost").map(({ costMicros }) => costMicros ?? 0);
  return { settlement: "cost", costMicros: costs.reduce((sum, cost) => sum + cost, 0) };
}

/** What all of them used, as far as they told; null: none did. */
export function usedTogether(parts: Part[]): Usage | null {
  const told = parts.flatMap(({ usage }) => (usage ? [usage] : []));
  if (told.length <= 1) return told[0] ?? null;
  const sum: Record<string, number> = {};
  for (const usage of told)
    for (const [field, amount] of Object.entries(usage)) sum[field] = (sum[field] ?? 0) + amount;
  return sum;
}

/** What of an upstream amount each provider gets: what its calls are known to cost, and the last one the rest. */
export function sharesOf(parts: Part[], upstreamMicros: Micros): Map<string, Micros> {
  const shares = new Map<string, Micros>();
  const add = (provider: string, micros: Micros) =>
    shares.set(provider, (shares.get(provider) ?? 0) + micros);
  let rest = upstreamMicros;
  for (const { provider, costMicros } of parts.slice(0, -1)) {
    const share = Math.min(costMicros ?? 0, rest);
    add(provider, share);
    rest -= share;
  }
  const last = parts.at(-1);
  if (last) add(last.provider, rest);
  return shares;
}
