import type { ComparisonEstimate, ComparisonEstimateRequest } from "@/server/contract/comparisons";
import { access } from "@/server/domain/access";
import { getCapability } from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { estimateTogether, requireDurable } from "@/server/domain/jobs";
import { type Micros, microsToUsd } from "@/server/platform/money";
import { requestOf, toComparisonFault } from "./competitors";

/**
 * Returns the costs of a comparison from the plans of its jobs. It writes and reserves nothing, and no part
 * of the answer is a quote.
 */
export async function estimate(
  ctx: Ctx,
  capabilityKey: string,
  { context, competitors, input }: ComparisonEstimateRequest,
  projectId?: string,
): Promise<ComparisonEstimate> {
  const capability = getCapability(capabilityKey);
  requireDurable(capability);
  const named = { body: context?.projectId, query: projectId };
  const project = await access.authorize(ctx, "capabilities:run", {
    place: { ...context, projectId: await access.namedProject(ctx, "capabilities:run", named) },
  });
  const { environment } = project;
  const connections = await connectionsOf({ id: project.id, environment });
  const estimates = await estimateTogether(ctx, capability, {
    requests: competitors.map((competitor, place) => ({
      ...requestOf(capability, connections, { input, competitor, place }),
      context: { projectId: project.id, environment },
    })),
    refusal: (place, cause) => toComparisonFault(competitors, place, cause),
  });
  const sum = (of: "expectedMicros" | "maximumMicros") =>
    estimates.reduce((total, each) => total + each[of], 0);
  return {
    estimateKind: "comparison",
    isRetailQuote: false,
    capabilityKey: capability.key,
    competitors: estimates.map(({ expectedMicros, maximumMicros, route, billingMode }, place) => ({
      competitor: competitors[place]!, // each competitor has one estimate
      billingMode: route ? billingMode : null,
      ...priced(expectedMicros, maximumMicros),
    })),
    total: priced(sum("expectedMicros"), sum("maximumMicros")),
  };
}

const priced = (estimated: Micros, maximum: Micros) => ({
  currency: "USD" as const,
  estimatedCost: microsToUsd(estimated),
  estimatedCostMicros: estimated,
  maximumCost: microsToUsd(maximum),
  maximumCostMicros: maximum,
  chargeEstimatedMicros: estimated,
  chargeMaximumMicros: maximum,
});
