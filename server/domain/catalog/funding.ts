import type { Capability } from "@/server/capabilities/define";
import type { ManagedFunding } from "@/server/contract/capabilities";
import { isFunded, recentFunds } from "@/server/domain/billing";
import { FUNDING_OPTIONS } from "@/server/domain/budgets";
import { availabilityOf, targetsOfPort } from "./targets";

/**
 * Returns what would pay for this capability if the organization ran it managed now: live money if an account
 * of the operator serves it, and test money if only the sandbox does. Nothing is reserved. `offered` is
 * returned unchanged if nothing needs to be paid or no such account serves it.
 */
export async function fundingFor(
  capability: Capability,
  offered: ManagedFunding,
  organizationId: string,
): Promise<ManagedFunding> {
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
