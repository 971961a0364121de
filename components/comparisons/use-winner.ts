import type { Comparison } from "@/server/contract/comparisons";
import type { Job } from "@/server/contract/jobs";
import type { Entry } from "./shown";

type Snapshot = NonNullable<Job["requestSnapshot"]>;

/** The request that a winner answered, bound to who answered it. Null: its content is not kept (any more), or it is private. */
export function winnerRequest(
  { projectId }: Pick<Comparison, "projectId">,
  { provider, model }: Pick<Entry, "provider" | "model">,
  { requestSnapshot }: Pick<Job, "requestSnapshot">,
) {
  if (requestSnapshot?.input === undefined) return null;
  const { sampling } = requestSnapshot;
  return {
    context: { projectId },
    input: inputOf(requestSnapshot),
    // A profile may have set how it thinks.
    ...(sampling ? { sampling } : {}),
    // What runs here has no provider to be bound to.
    ...(provider
      ? { execution: { executionConstraints: { providerPin: provider, preferredModel: model } } }
      : {}),
  };
}

/** As it was sent: `prompt` beside messages repeats the last of them, for programs that read the snapshot. */
function inputOf({ input }: Snapshot) {
  if (typeof input !== "object" || input === null || Array.isArray(input) || !("messages" in input))
    return input;
  const { prompt: _, ...sent } = input;
  return sent;
}
