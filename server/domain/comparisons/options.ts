import type { Capability } from "@/server/capabilities/define";
import { type CompetitorOptions, MOST_COMPETITORS } from "@/server/contract/comparisons";
import { access } from "@/server/domain/access";
import { executionTargets, getCapability } from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { inputFieldsOf, profilesOf } from "./profiles";

/**
 * Returns the possible competitors of a capability in the caller's project now. A capability without
 * durable runs has none.
 */
export async function options(
  ctx: Ctx,
  capabilityKey: string,
  projectId?: string,
): Promise<CompetitorOptions> {
  const capability = getCapability(capabilityKey);
  const project = await access.authorize(ctx, "capabilities:run", { projectId });
  const isDurable = capability.modes.includes("job_async");
  const connections = await connectionsOf({ id: project.id, environment: project.environment });
  const targets = isDurable ? executionTargets(capability, connections).targets : [];
  const profiles = isDurable ? profilesOf(capability) : [];
  return {
    capabilityKey: capability.key,
    axes: [
      ...(targets.length > 0 ? (["provider"] as const) : []),
      ...(isDurable ? (["recipe"] as const) : []),
      ...(profiles.length > 0 ? (["profile"] as const) : []),
    ],
    defaultCompetitors: defaultsOf(capability, targets),
    providers: targets.map(({ target, provider, model, title, availability }) => ({
      providerPin: target,
      provider,
      model,
      title,
      available: availability.available,
      reason: availability.reason,
    })),
    profiles: profiles.map(({ key, version, title, description }) => ({
      profileKey: key,
      profileVersion: version,
      title,
      description,
    })),
    recipes: { supported: isDurable, inputFields: isDurable ? inputFieldsOf(capability) : [] },
  };
}

type Targets = ReturnType<typeof executionTargets>["targets"];

/**
 * Returns one competitor per available provider, at most `MOST_COMPETITORS`, in the order that an unpinned
 * request would use.
 */
function defaultsOf({ execute }: Capability, targets: Targets): CompetitorOptions["defaultCompetitors"] {
  if ("local" in execute) return [];
  const reached = targets.filter(({ availability }) => availability.available);
  return [...new Set(reached.map(({ provider }) => provider))]
    .slice(0, MOST_COMPETITORS)
    .map((provider) => ({ axis: "provider", providerPin: `${provider}-${execute.port}` }));
}
