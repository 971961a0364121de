import type { Charge } from "@/server/contract/charge";
import { FOUND_COST, type Funding, type HoldFacts, IS_CHARGED } from "@/server/domain/budgets";
import type { Estimate } from "@/server/domain/quotes";
import type { Micros } from "@/server/platform/money";
import type { ExecutionMoney } from "./money";

/*
 * The customer's charge for an execution. Every view of one execution calls `chargeOf`; sums over many use
 * the same rules in SQL below. A hold and its ledger entries are written together, so the hold matches the
 * ledger.
 */

export type Chargeable = {
  billingMode: string;
  /** The expected price with its fee. */
  estimatedMicros: Micros;
  /** Null if nothing is reserved. */
  hold: HoldFacts | null;
};

/**
 * The customer's charge from admission on. It is 0 on the customer's own provider account, because the
 * provider bills it.
 */
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

/**
 * Computes the hold that the admission, or the end (`money`), writes, so no read is needed. Null if the
 * execution is free.
 */
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
 * The same rules in SQL, over an `execution` joined with its `hold`, for sums over many.
 */

/** The customer's charge; 0 while it is unknown. */
export const CHARGED = `CASE WHEN ${IS_CHARGED} THEN hold.settled_micros ELSE 0 END`;

/** The cost of the provider's work at list price, including a cost that was found later; null if unknown. */
export const PROVIDER_COST = `coalesce(execution.actual_micros, ${FOUND_COST})`;
