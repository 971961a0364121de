import { exposureOf, type Posting, postingsOf } from "@/server/domain/budgets";
import { type Estimate, serviceFee } from "@/server/domain/quotes";
import type { Micros } from "@/server/platform/money";
import type { Usage } from "@/server/providers/define";
import type { Ending } from "./call-outcome";
import type { Settlement } from "./outcomes";

/** The money of one call. */
export type CallMoney = {
  /** Names the call if its money became known only after the end of the execution. */
  attemptId?: string;
  provider: string;
  settlement: Settlement;
  /** At list price; null if unknown. */
  costMicros: Micros | null;
  usage: Usage | null;
  /** The cost is an estimate of the delivered part only, so the provider may charge the operator more. */
  isPartial?: boolean;
};

/** The money of a call that ended like this. */
export const callMoneyOf = (
  provider: string,
  { settlement, observed: { costMicros, usage, estimated } }: Pick<Ending, "settlement" | "observed">,
): CallMoney => ({ provider, settlement, costMicros, usage, isPartial: estimated === "partial" });

type Priced = Pick<Estimate, "maximumMicros" | "maximumUpstreamMicros" | "serviceFeeBps" | "billingMode">;

/** The money of an execution that ends. */
export type ExecutionMoney = {
  hold: "settled" | "released" | "ambiguous";
  /** The cost of the providers' work at list price; null if unknown. */
  costMicros: Micros | null;
  /**
   * The amount that settles the hold, including the fee; null if not known yet. `chargeOf` charges it only in
   * managed billing.
   */
  chargedMicros: Micros | null;
  feeMicros: Micros;
  /** Each provider's part of the cost, or of the whole hold without the fee; empty if neither is charged. */
  upstream: [provider: string, micros: Micros][];
  /** The most that providers may charge the operator for work that no customer pays. */
  exposureMicros: Micros;
};

/**
 * Computes the money of an execution from its calls in order. One call of unknown outcome makes the whole
 * hold ambiguous, and a result or a billed error of unknown cost settles the whole hold; otherwise known
 * costs add up. A managed customer is charged at most the hold.
 */
export function moneyOf(estimate: Priced, calls: CallMoney[]): ExecutionMoney {
  const settlement = settlementOf(calls);
  const known = calls.filter((call) => call.settlement === "cost");
  const cost = known.reduce((sum, { costMicros }) => sum + (costMicros ?? 0), 0);
  const { maximumMicros, maximumUpstreamMicros, serviceFeeBps, billingMode } = estimate;
  const nothing = { costMicros: null, chargedMicros: null, feeMicros: 0, upstream: [], exposureMicros: 0 };
  switch (settlement) {
    case "ambiguous":
      return { ...nothing, hold: "ambiguous" };
    case "hold":
      return {
        ...nothing,
        hold: "settled",
        chargedMicros: maximumMicros,
        feeMicros: maximumMicros - maximumUpstreamMicros,
        upstream: sharesOf(calls, maximumUpstreamMicros),
      };
    case "released":
      return { ...nothing, hold: "released", costMicros: 0, chargedMicros: 0 };
    case "exposed":
      return { ...nothing, hold: "released", chargedMicros: 0, exposureMicros: maximumUpstreamMicros };
    case "cost": {
      const isManaged = billingMode === "managed";
      const fee = serviceFee(cost, serviceFeeBps);
      // The operator takes no fee on a cost that the customer does not pay.
      const feeMicros = isManaged ? Math.min(fee, Math.max(0, maximumMicros - cost)) : fee;
      const whole = cost + feeMicros;
      const isExposed = calls.some((call) => call.settlement === "exposed" || call.isPartial);
      return {
        hold: "settled",
        costMicros: cost,
        chargedMicros: isManaged ? Math.min(whole, maximumMicros) : whole,
        feeMicros,
        upstream: sharesOf(calls, cost),
        exposureMicros: isExposed ? Math.max(0, maximumUpstreamMicros - cost) : 0,
      };
    }
  }
}

/**
 * Converts the money of an ended execution into the values of its rows. A free execution has a cost of 0, no
 * hold and no entries. `payer`: the account that is charged. `route`: the route under which work that no
 * customer pays is booked.
 */
export function booksOf(
  { maximumMicros: heldMicros, billingMode }: Priced,
  { hold: state, costMicros, chargedMicros, feeMicros, upstream, exposureMicros }: ExecutionMoney,
  payer: string,
  route: string,
) {
  const isSettled = state === "settled";
  const hold = { state, settled_micros: isSettled ? chargedMicros : null };
  if (heldMicros === 0)
    return { costMicros: 0, feeMicros: 0, holdState: null, hold, postings: [] as Posting[] };
  const postings = [
    ...(isSettled ? postingsOf({ payer, billingMode, heldMicros, upstream, feeMicros }) : []),
    ...(billingMode === "managed" ? exposureOf(route, exposureMicros) : []),
  ];
  return { costMicros, feeMicros, holdState: state, hold, postings };
}

function settlementOf(calls: CallMoney[]): Settlement {
  const order = ["ambiguous", "hold", "cost", "exposed"] as const;
  return order.find((each) => calls.some(({ settlement }) => settlement === each)) ?? "released";
}

/** Sums the usage of all calls that report any; null if none does. */
export function usageOf(calls: Pick<CallMoney, "usage">[]): Usage | null {
  const reported = calls.flatMap(({ usage }) => usage ?? []);
  return reported.length === 0 ? null : reported.reduce(addUsage);
}

/** Adds two usages figure by figure. */
export function addUsage(first: Usage, second: Usage): Usage {
  const sum: Record<string, number> = { ...first };
  for (const [figure, amount] of Object.entries(second)) sum[figure] = (sum[figure] ?? 0) + amount;
  return sum;
}

/**
 * Divides an upstream amount among the providers: each gets the known cost of its calls, as far as the amount
 * suffices. The rest goes to the last call that settles the whole hold, or else to the last call.
 */
function sharesOf(calls: CallMoney[], upstreamMicros: Micros): [string, Micros][] {
  const shares = new Map<string, Micros>();
  let rest = upstreamMicros;
  for (const { provider, costMicros } of calls) {
    const share = Math.min(costMicros ?? 0, rest);
    shares.set(provider, (shares.get(provider) ?? 0) + share);
    rest -= share;
  }
  const unknown = calls.findLast(({ settlement }) => settlement === "hold") ?? calls.at(-1);
  if (unknown) shares.set(unknown.provider, (shares.get(unknown.provider) ?? 0) + rest);
  return [...shares];
}
