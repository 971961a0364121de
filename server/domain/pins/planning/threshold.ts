import type { ProjectAccess } from "@/server/domain/access";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, microsToUsd } from "@/server/platform/money";

/**
 * Refuses a cost above the approval threshold, because a pinned execution cannot wait for a person. `items`:
 * the number of executions in a bulk, whose total cost is compared with the threshold.
 */
export function refuseUnapproved(
  { approvalThresholdMicros }: ProjectAccess,
  estimatedMicros: Micros,
  items?: number,
): void {
  if (approvalThresholdMicros === null || estimatedMicros <= approvalThresholdMicros) return;
  const [estimated, threshold] = [microsToUsd(estimatedMicros), microsToUsd(approvalThresholdMicros)];
  const [what, wayOut] =
    items === undefined
      ? ["This may", "Lower the cost, or submit a durable job."]
      : [
          items === 1 ? "This item may" : `These ${items} items together may`,
          "Lower the cost, or ask an admin to raise the threshold.",
        ];
  fail(
    "PolicyRejected",
    `${what} cost ${estimated} USD. Above ${threshold} USD this project needs a person's approval, and a pinned execution cannot wait for one. ${wayOut}`,
    {
      field: items === undefined ? "sampling.maxOutputTokens" : "items",
      estimated,
      threshold,
      ...(items === undefined ? {} : { items }),
    },
  );
}
