import { fail } from "@/server/platform/errors/errors";
import { microsToUsd, usdToMicros } from "@/server/platform/money";
import { env, publicUrl } from "@/server/platform/settings/env";

/**
 * Source of a hold: the first-use allowance or the prepaid balance. Null for the customer's own provider
 * account.
 */
export type Funding = "allowance" | "wallet" | null;

/** First-use allowance of an organization for managed work, in total and not per month; 0 turns it off. */
export const ALLOWANCE_MICROS = usdToMicros(env.TRIAL_ALLOWANCE_USD);
/** Maximum of the allowance that one execution may use. */
export const TRIAL_CEILING_MICROS = usdToMicros(env.TRIAL_CEILING_USD);

/** Payment options of a caller without funds. */
export const FUNDING_OPTIONS = ["managed", "byok"] as const;
/** Page on which a person adds funds. */
export const billingUrl = () => `${publicUrl}/billing`;

type Exhausted = {
  scope: string;
  period: string;
  enforcement: string;
  ceilingMicros: number;
  availableMicros: number;
  amountMicros: number;
};
type Unfunded = {
  isTest: boolean;
  amountMicros: number;
  allowanceMicros: number;
  trialCeilingMicros: number;
  walletMicros: number;
};

/**
 * Turns the refusals of capstan_reserve and capstan_count_panel_jobs (prisma/guards) into BudgetExceeded
 * and funding_required. Rethrows any other error.
 */
export function refuseReservation(cause: unknown): never {
  const { code, detail } = cause as { code?: string; detail?: string };
  if (code === "CB402") {
    const refusal = JSON.parse(detail ?? "{}") as Exhausted | { maxJobs: number }; // written by these functions
    if ("maxJobs" in refusal) return refuseMoreJobs(refusal.maxJobs);
    const { scope, period, enforcement, ceilingMicros, availableMicros, amountMicros } = refusal;
    const estimatedCost = microsToUsd(amountMicros);
    const available = microsToUsd(availableMicros);
    const ceiling = microsToUsd(ceilingMicros);
    const whose = scope.startsWith("principal:pses_") ? "this embed session" : scope;
    fail(
      "BudgetExceeded",
      `This may cost ${estimatedCost} USD, but only ${available} USD of the ${ceiling} USD limit for ${whose} is left. Lower the cost, or ask an admin to raise the limit.`,
      { scope, period, enforcement, estimatedCost, available, ceiling },
    );
  }
  if (code === "CB403") {
    const { isTest, amountMicros, allowanceMicros, trialCeilingMicros, walletMicros } = JSON.parse(
      detail ?? "{}",
    ) as Unfunded; // written by that function
    // An amount above the limit per execution is refused for that reason if the allowance would suffice, or
    // if part of the allowance is left and the wallet is empty.
    const isAboveTrial =
      amountMicros > trialCeilingMicros &&
      (amountMicros <= allowanceMicros || (allowanceMicros > 0 && walletMicros === 0));
    const reason = isAboveTrial
      ? "trial_ceiling"
      : walletMicros > 0
        ? "wallet_too_low"
        : ALLOWANCE_MICROS > 0
          ? "allowance_used"
          : "ineligible";
    fail(
      "funding_required",
      isAboveTrial
        ? `This may cost ${microsToUsd(amountMicros)} USD, and one execution can use at most ${microsToUsd(trialCeilingMicros)} USD of the first-use allowance. Add funds, or connect your own provider account.`
        : `This may cost ${microsToUsd(amountMicros)} USD, which is more than the available balance. Add funds, or connect your own provider account.`,
      {
        reason,
        fundingOptions: [...FUNDING_OPTIONS],
        legacyCode: "billing_managed_usage_exhausted",
        estimatedCost: microsToUsd(amountMicros),
        available: microsToUsd(Math.max(0, walletMicros, Math.min(allowanceMicros, trialCeilingMicros))),
        remainingMicros: Math.max(allowanceMicros, walletMicros),
        trialCeilingMicros,
        isTest,
        upgradeUrl: billingUrl(),
      },
    );
  }
  throw cause;
}

function refuseMoreJobs(maxJobs: number): never {
  fail("BudgetExceeded", `This embed session has used all of its ${maxJobs} jobs. Open a new session.`, {
    scope: "panel_session",
    field: "maxJobs",
    enforcement: "prevent",
    estimatedCost: 0,
    available: 0,
    ceiling: 0,
    maxJobs,
  });
}

/** Ledger account that an execution is charged to. */
export function ledgerAccount(organizationId: string, funding: Funding): string {
  return `${funding ?? "external"}:${organizationId}`;
}
