import type { Capability } from "@/server/capabilities/define";
import type { CapabilityAccessDecision } from "@/server/contract/capabilities";
import type { JsonObject } from "@/server/contract/common";
import { recentFunds } from "@/server/domain/billing";
import { isConnectable } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { externalSwitchOf } from "@/server/domain/plans";
import { publicUrl } from "@/server/platform/settings/env";
import { connectUrlOf } from "./connect-url";
import { offersOf, SANDBOX, SHUT, type TargetOffer, targetsOfPort } from "./targets";
import { type Viewer, viewerOf } from "./viewer";

/**
 * Decides whether this caller may run the capability, whether it could run now, and if not, what a person would have to
 * do. Returns null for a caller that is not signed in. Nothing is reserved.
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

/** Returns why this caller can run nothing at all here, or null if nothing forbids it. */
export function refusalOf({ mayRun, archived }: Viewer): string | null {
  if (!mayRun) return "not_permitted";
  return archived && `${archived}_archived`;
}

/**
 * True if a request that names no model would leave for a provider. It stays here if the sandbox is offered and
 * no other source could pay.
 */
const isLeaving = (offers: TargetOffer[], funding: string[]): boolean =>
  funding.some((source) => source !== "sandbox") || !offers.some(({ account }) => account === "sandbox");

/** Returns the action that a person would have to take, or null if there is none. */
function toDo(obstacle: string, capability: Capability, viewer: Viewer): JsonObject | null {
  if (obstacle === SHUT)
    return viewer.project && { kind: "enable_external_actions", url: externalSwitchOf(viewer.project.id) };
  return obstacle === "connection_required" ? toConnect(capability, viewer) : TO_FUND;
}

const TO_FUND: JsonObject = { kind: "add_funds", url: `${publicUrl}/billing` };

/**
 * Returns the sources that could pay now: the customer's own account at the provider, money of the organization, and
 * test money in the sandbox.
 */
async function fundingSourcesOf({ organizationId }: Viewer, offers: TargetOffer[]): Promise<string[]> {
  const has = (wanted: TargetOffer["account"]) => offers.some(({ account }) => account === wanted);
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

/** Returns the link to the form of the first provider that could serve, or null if none can be connected. */
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
