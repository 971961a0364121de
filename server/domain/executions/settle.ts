import { type Estimate, serviceFee } from "@/server/domain/quotes";
import type { Micros } from "@/server/money";
import type { Settlement } from "./outcome";

/** How the money of an end is settled: what the provider's work cost, what is charged, and the hold's last state. */
export function settle(
  estimate: Pick<Estimate, "maximumMicros" | "serviceFeeBps">,
  settlement: Settlement,
  costMicros: Micros | null,
) {
  const held = estimate.maximumMicros;
  switch (settlement) {
    case "cost": {
      const cost = costMicros ?? 0;
      return {
        costMicros: cost,
        chargedMicros: cost + serviceFee(cost, estimate.serviceFeeBps),
        hold: "settled" as const,
      };
    }
    case "hold":
      return { costMicros: null, chargedMicros: held, hold: "settled" as const };
    case "released":
      return { costMicros: 0, chargedMicros: 0, hold: "released" as const };
    case "ambiguous":
      return { costMicros: null, chargedMicros: null, hold: "ambiguous" as const };
  }
}
