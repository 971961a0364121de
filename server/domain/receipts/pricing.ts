import type { Charge } from "@/server/contract/charge";
import type { Receipt } from "@/server/contract/receipts";
import { toPresentationMoney } from "@/server/domain/billing";
import { pricingOf } from "@/server/domain/quotes";
import { type Micros, toMoney } from "@/server/platform/money";
import type { ReceiptFacts } from "./facts";

type Charged = {
  /** The customer's charge in real or test money; 0 if the service covers it. */
  customer: Micros;
  /** Null if the source of the money is unknown. */
  trialCovered: Micros | null;
  /** The part that was taken from the prepaid balance, in real money. Null if the source of the money is unknown. */
  debited: Micros | null;
};

/** Tells where the money comes from, as copied from the admission, and who pays the provider. */
function fundingOf({ isTest, provider, estimate, funding }: ReceiptFacts): {
  source: "sandbox" | "none" | "customer" | "managed_trial" | "managed_wallet" | "unknown";
  bearer: "none" | "customer" | "service";
} {
  if (isTest) return { source: "sandbox", bearer: "none" };
  if (provider === null) return { source: "none", bearer: "none" };
  if (estimate.billingMode === "byok") return { source: "customer", bearer: "customer" };
  if (estimate.maximumMicros === 0) return { source: "none", bearer: "service" };
  if (funding === "allowance") return { source: "managed_trial", bearer: "service" };
  return { source: funding === "wallet" ? "managed_wallet" : "unknown", bearer: "service" };
}

type FundingSource = ReturnType<typeof fundingOf>["source"];

/** Splits a charged amount by who paid it. */
function chargedTo(source: FundingSource, charged: Micros): Charged {
  if (charged === 0) return NOTHING;
  switch (source) {
    case "managed_trial":
      return { customer: 0, trialCovered: charged, debited: 0 };
    case "managed_wallet":
      return { customer: charged, trialCovered: 0, debited: charged };
    case "unknown":
      return { customer: charged, trialCovered: null, debited: null };
    default:
      // Test money, an own account and work without a provider take nothing from the balance.
      return { customer: charged, trialCovered: 0, debited: 0 };
  }
}

const NOTHING: Charged = { customer: 0, trialCovered: 0, debited: 0 };

/** A receipt shows every other state as `covered`, because the customer was charged nothing. */
function chargeStateOf({ state }: Charge): Receipt["pricing"]["chargeState"] {
  return state === "charged" || state === "byok" || state === "unsettled" ? state : "covered";
}

/**
 * Returns the provider's cost: the amount that the provider reported, or otherwise the list price. A reported amount
 * does not change the charge, which follows the list price.
 */
function providerCostOf({
  estimate,
  costMicros,
  usage,
  isEstimated,
}: ReceiptFacts): Receipt["pricing"]["providerCost"] {
  const reported = usage?.reportedCostMicros;
  const priceScheduleId = estimate.pricingVersion;
  if (reported !== undefined)
    return { amount: toMoney(reported), status: "reported", basis: "provider_reported", priceScheduleId };
  if (costMicros === null) return { amount: null, status: "unknown", basis: "unknown", priceScheduleId };
  const basis = isEstimated ? "estimated" : "list_price";
  return { amount: toMoney(costMicros), status: "computed", basis, priceScheduleId };
}

/** Returns the expected and actual costs of an execution, and who was charged how much. */
export function pricing(facts: ReceiptFacts): Receipt["pricing"] {
  const { estimate, costMicros: cost } = facts;
  const fee = facts.feeMicros;
  const { chargedMicros } = facts.charge;
  const isByok = facts.charge.state === "byok";
  // The customer never pays more than the charge: nothing on their own account, and nothing above the hold.
  const basis = cost === null && !isByok ? null : Math.min(cost ?? 0, chargedMicros ?? 0);
  const funding = fundingOf(facts);
  const charged = chargedMicros === null ? null : chargedTo(funding.source, chargedMicros);
  const reported = facts.usage?.reportedCostMicros ?? null;
  const sealed = estimate.sealed;
  const money = (micros: Micros | null | undefined) => (micros == null ? null : toMoney(micros));
  return {
    ...pricingOf(
      estimate,
      facts.job.quote_id,
      sealed?.expiresAt ? new Date(sealed.expiresAt) : null,
      sealed?.hash ?? null,
    ),
    executionPlanId: estimate.route?.key ?? null,
    serviceInferenceFeeMicros: fee,
    service: { serviceFeeRateBps: estimate.serviceFeeBps, inferenceFeeMicros: fee },
    charge: charged && {
      customerCharge: toMoney(charged.customer),
      customerDebit: money(charged.debited),
      chargedAt: charged.customer > 0 ? facts.completedAt.toISOString() : null,
    },
    customerCharge:
      basis === null
        ? null
        : {
            upstreamMicros: basis,
            serviceFeeMicros: fee,
            customerTotalMicros: basis + fee,
            currency: "USD",
            lineItems: [
              {
                label: `${facts.job.capability_key} by ${estimate.route?.key ?? "this service"}`,
                upstreamMicros: basis,
                serviceFeeMicros: fee,
                includedProcessing: facts.provider === null,
              },
            ],
          },
    providerUsage: { reportedCost: money(reported), costBearer: funding.bearer },
    providerReportedCostMicros: reported,
    providerCost: providerCostOf(facts),
    // The converted amount is the charge, not the estimate.
    presentation: estimate.fx && charged ? toPresentationMoney(charged.customer, estimate.fx) : null,
    basisActual: money(cost),
    discountedUpstreamBasisMicros: facts.tier === "flex" ? cost : null,
    actualCharge: money(charged?.customer),
    price: money(charged?.customer),
    observedUsage: facts.usage,
    fundingSource: funding.source,
    trialCoveredMicros: charged?.trialCovered ?? null,
    customerDebitedMicros: charged?.debited ?? null,
    chargeState: chargeStateOf(facts.charge),
  };
}
