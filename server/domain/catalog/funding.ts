import type { Capability } from "@/server/capabilities/define";
import type { Funding } from "@/server/contract/capabilities";
import { isFunded, recentFunds } from "@/server/domain/billing";
import { FUNDING_OPTIONS } from "@/server/domain/budgets";
import { availabilityOf, targetsOfPort } from "./targets";

/**
 * What would pay for this capability if the organization ran it managed now. Live money where an account of the operator
 * serves it, test money where only the sandbox does. Looking takes nothing of the allowance.
 */
export async function fundingFor(
  capability: Capability,
  offered: Funding,
  organizationId: string,
): Promise<Funding> {
  const accounts = targetsOfPort(capability).map((target) => availabilityOf(target).account);
  const isLive = accounts.includes("operator");
  if (!offered.eligible || (!isLive && !accounts.includes("sandbox"))) return offered;
  const funds = await recentFunds(organizationId, !isLive);
  return {
    mode: funds.allowanceMicros > 0 && funds.walletMicros <= 0 ? "managed_trial" : "managed",
    eligible: true,
    status: isFunded(funds) ? "ready" : "funding_required",
    fundingOptions: [...FUNDING_OPTIONS],
    remainingMicros: Math.max(0, funds.allowanceMicros) + Math.max(0, funds.walletMicros),
  };
}
