import type { Comparison, ComparisonEntry } from "@/server/contract/comparisons";
import type { Job } from "@/server/contract/jobs";

type Snapshot = NonNullable<Job["requestSnapshot"]>;

/** The winner's request, pinned to the winner's provider and model. Null when the content is private or not stored. */
export function winnerRequest(
  { projectId }: Pick<Comparison, "projectId">,
  { provider, model }: Pick<ComparisonEntry, "provider" | "model">,
  { requestSnapshot }: Pick<Job, "requestSnapshot">,
) {
  if (requestSnapshot?.input === undefined) return null;
  const { sampling } = requestSnapshot;
  return {
    context: { projectId },
    input: inputOf(requestSnapshot),
    // A profile may have set the sampling.
    ...(sampling ? { sampling } : {}),
    // A local run has no provider to pin.
    ...(provider
      ? { execution: { executionConstraints: { providerPin: provider, preferredModel: model } } }
      : {}),
  };
}

/** The input as sent. A `prompt` next to messages only repeats the last message for readers of the snapshot. */
function inputOf({ input }: Snapshot) {
  if (typeof input !== "object" || input === null || Array.isArray(input) || !("messages" in input))
    return input;
  const { prompt: _, ...sent } = input;
  return sent;
}
