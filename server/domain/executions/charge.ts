import type { Charge } from "@/server/contract/charge";
import { FOUND_COST, type Funding, type HoldFacts, IS_CHARGED } from "@/server/domain/budgets";
import type { Estimate } from "@/server/domain/quotes";
import type { Micros } from "@/server/platform/money";
import type { ExecutionMoney } from "./money";

/*
 * What a customer pays for an execution. Every view of an execution asks `chargeOf`; the sums of many executions read the same
 * rules in SQL below. A hold and its ledger entries are written together, so both say what the ledger says.
 */

export type Chargeable = {
  billingMode: string;
  /** The expected price with its fee. */
  estimatedMicros: Micros;
  /** Null: nothing is reserved. */
  hold: HoldFacts | null;
};

/** What the customer pays, from admission on. On an own provider account nothing: the provider bills it. */
export function chargeOf({ billingMode, estimatedMicros, hold }: Chargeable): Charge {
  return {
    currency: "USD",
    estimatedMicros,
    authorizedMicros: hold?.amountMicros ?? 0,
    ...(billingMode === "byok" ? { chargedMicros: 0, state: "byok" } : chargeOfManaged(hold)),
  };
}

function chargeOfManaged(hold: HoldFacts | null): Pick<Charge, "chargedMicros" | "state"> {
  switch (hold?.state) {
    case "open":
      return { chargedMicros: null, state: "reserved" };
    case "ambiguous":
      return { chargedMicros: null, state: "unsettled" };
    case "settled": {
      const chargedMicros = hold.settledMicros ?? 0;
      if (chargedMicros === 0) return { chargedMicros, state: "not_charged" };
      return { chargedMicros, state: hold.funding === "allowance" || hold.isTest ? "covered" : "charged" };
    }
    default:
      return { chargedMicros: 0, state: hold?.resolution === "written_off" ? "written_off" : "not_charged" };
  }
}

/** The hold of an execution as its admission makes it, or its end (`money`), without reading it back. Null: it is free. */
export function holdFor(
  { maximumMicros }: Pick<Estimate, "maximumMicros">,
  paidBy: { funding: Funding; isTest: boolean },
  money?: ExecutionMoney,
): HoldFacts | null {
  if (maximumMicros === 0) return null;
  const state = money?.hold ?? "open";
  const settledMicros = state === "settled" ? (money?.chargedMicros ?? null) : null;
  return { state, amountMicros: maximumMicros, settledMicros, ...paidBy };
}

/*
 * The same in SQL, of an `execution` with its `hold`: for sums of many.
 */

/** What the customer has paid, 0 as long as that is not known. */
export const CHARGED = `CASE WHEN ${IS_CHARGED} THEN hold.settled_micros ELSE 0 END`;

/** What the provider's work cost at list price, also where that became known later; null: not known. */
export const PROVIDER_COST = `coalesce(execution.actual_micros, ${FOUND_COST})`;
