import type {
  CapabilityAccessDecision,
  ResolutionRequest,
  ResolutionResponse,
} from "@/server/contract/capabilities";
import type { Ctx } from "@/server/domain/ctx";
import { accessDecisionFor } from "./access-decision";
import { describeCapability } from "./describe";
import { runHintOf } from "./run-hint";
import { type Match, resolveIntent } from "./search/decide";
import { type Viewer, viewerOf } from "./viewer";

type Requirements = ResolutionRequest["requirements"];

/**
 * Finds the capabilities for an intended outcome, best first. Only matches that satisfy all requirements are
 * returned. If none does, all matches are returned, with the unmet requirements of the best one. A missing
 * capability can be requested, unless the intent means nothing or is an act that this service never does. The
 * view `brief` leaves out prices and requests.
 */
export async function resolve(
  ctx: Ctx,
  { intent, requirements }: ResolutionRequest,
  view?: "brief",
): Promise<ResolutionResponse> {
  const { resolution, hits } = resolveIntent(intent);
  const viewer = await viewerOf(ctx);
  const judged = await Promise.all(hits.map((hit) => judge(ctx, hit, viewer)));
  const fitting = judged.filter((each) => unmet(each, requirements).length === 0);
  const isSatisfied = judged.length === 0 || fitting.length > 0;
  const shown = isSatisfied ? fitting : judged;
  const isBrief = view === "brief";
  return {
    resolution,
    matches: shown.map(({ hit, decision }) => ({
      capabilityKey: hit.capability.key,
      title: hit.capability.title,
      confidence: hit.confidence,
      pricing: isBrief
        ? null
        : describeCapability(hit.capability, viewer.signedIn, viewer.connections).pricing,
      runHint: isBrief ? null : runHintOf(hit.capability),
      accessDecision: decision,
    })),
    requirementsSatisfied: isSatisfied,
    // These are the unmet requirements of the best match.
    unmetRequirements: isSatisfied || !judged[0] ? [] : unmet(judged[0], requirements),
    nextAction:
      resolution === "no_match_requestable"
        ? { kind: "request_capability", endpoint: "POST /v1/capability-requests", nonBinding: true }
        : null,
  };
}

type Judged = { hit: Match; decision: CapabilityAccessDecision | null; isRunnable: boolean | null };

async function judge(ctx: Ctx, hit: Match, viewer: Viewer): Promise<Judged> {
  const decision = await accessDecisionFor(ctx, hit.capability, viewer);
  return { hit, decision, isRunnable: decision?.runnable ?? null };
}

/**
 * Returns the requirements that a match does not satisfy. A requirement that cannot be judged for this caller counts as
 * satisfied.
 */
function unmet({ hit: { capability }, isRunnable }: Judged, requirements: Requirements): string[] {
  const { modality, executionMode, runnableNow } = requirements;
  return [
    ...(modality && capability.modality !== modality ? ["modality"] : []),
    ...(executionMode && !capability.modes.includes(executionMode) ? ["executionMode"] : []),
    ...(runnableNow && isRunnable === false ? ["runnableNow"] : []),
  ];
}
