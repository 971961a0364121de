import type { Capability } from "@/server/capabilities/define";
import type { CapabilityAccessDecision } from "@/server/contract/capabilities";
import type { JsonObject } from "@/server/contract/common";
import { recentFunds } from "@/server/domain/billing";
import { isConnectable } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { externalSwitchOf } from "@/server/domain/plans";
import { publicUrl } from "@/server/platform/settings/env";
import { connectUrlOf } from "./connect-url";
import { type Offer, offersOf, SANDBOX, SHUT, targetsOfPort } from "./targets";
import { type Viewer, viewerOf } from "./viewer";

/**
 * May this caller run the capability, could it run now, and if not, what a person would have to do about it. Null for
 * callers no one knows. Looking reserves nothing.
 */
export async function accessDecisionFor(
  ctx: Ctx,
  capability: Capability,
  viewer?: Viewer,
): Promise<CapabilityAccessDecision | null> {
  const who = viewer ?? (await viewerOf(ctx));
  if (!who.signedIn) return null;
  const offers = targetsOfPort(capability, who.connections ?? [])
    .flatMap((target) => offersOf(target, who.connections ?? []))
    .filter(({ model }) => !model.onlyByName);
  const isLocal = "local" in capability.execute;
  const funding = isLocal ? ["none"] : await fundingSourcesOf(who, offers);
  const isShut = !isLocal && !who.mayLeave && isLeaving(offers, funding);
  const could =
    isLocal || (!isShut && (who.organizationId === null ? offers.length > 0 : funding.length > 0));
  const obstacle = isShut ? SHUT : offers.length === 0 ? "connection_required" : "funding_required";
  const refusal = refusalOf(who);
  const threshold = who.project?.approvalThresholdMicros ?? null;
  return {
    capabilityKey: capability.key,
    allowed: refusal === null,
    runnable: refusal === null && could,
    reason: refusal ?? (could ? null : obstacle),
    availableBillingModes: [...new Set(offers.flatMap(({ billingModes }) => billingModes))],
    availableCredentialSources: [
      ...new Set(offers.map(({ account }) => (typeof account === "object" ? "customer" : "platform"))),
    ],
    availableFundingSources: funding,
    requiredAction: refusal !== null || could ? null : toDo(obstacle, capability, who),
    humanGate:
      isLocal || threshold === null ? null : { kind: "estimate_above_threshold", thresholdMicros: threshold },
  };
}

/** Why this caller runs nothing where they are, whatever it is; null: nothing forbids it. */
export function refusalOf({ mayRun, archived }: Viewer): string | null {
  if (!mayRun) return "not_permitted";
  return archived && `${archived}_archived`;
}

/** Would what names no model go to a provider? It stays where only the sandbox serves, or no one has paid for the operator's. */
const isLeaving = (offers: Offer[], funding: string[]): boolean =>
  funding.some((source) => source !== "sandbox") || !offers.some(({ account }) => account === "sandbox");

/** What a person would have to do about it. */
function toDo(obstacle: string, capability: Capability, viewer: Viewer): JsonObject | null {
  if (obstacle === SHUT)
    return viewer.project && { kind: "enable_external_actions", url: externalSwitchOf(viewer.project.id) };
  return obstacle === "connection_required" ? toConnect(capability, viewer) : TO_FUND;
}

const TO_FUND: JsonObject = { kind: "add_funds", url: `${publicUrl}/billing` };

/** What could pay now: the customer's own account at the provider, money of the organization, test money in the sandbox. */
async function fundingSourcesOf({ organizationId }: Viewer, offers: Offer[]): Promise<string[]> {
  const has = (wanted: Offer["account"]) => offers.some(({ account }) => account === wanted);
  const own = offers.some(({ account }) => typeof account === "object") ? ["customer"] : [];
  if (organizationId === null) return own;
  const live = has("operator") ? await recentFunds(organizationId, false) : null;
  const test = has("sandbox") ? await recentFunds(organizationId, true) : null;
  return [
    ...own,
    ...(live && live.allowanceMicros > 0 ? ["managed_trial"] : []),
    ...(live && live.walletMicros > 0 ? ["managed_wallet"] : []),
    ...(test && (test.allowanceMicros > 0 || test.walletMicros > 0) ? ["sandbox"] : []),
  ];
}

/** The form of the first provider that could serve; null where no one can be connected. */
function toConnect(capability: Capability, { project, environment }: Viewer): JsonObject | null {
  const missing = targetsOfPort(capability).find(
    ({ provider }) => provider.name !== SANDBOX && isConnectable(provider),
  );
  if (!missing) return null;
  const { name } = missing.provider;
  const url = project
    ? connectUrlOf({ id: project.id, environment: environment ?? project.environment }, name)
    : publicUrl;
  return { kind: "connect_provider", provider: name, url };
}
