import type { Receipt } from "@/server/contract/receipts";
import type { Estimate } from "@/server/domain/quotes";
import { toMoney } from "@/server/platform/money";
import type { Tier } from "@/server/providers/define";
import type { ReceiptFacts } from "./facts";

/** Returns the tier of the last request that left, or null if none did. */
export function tierAskedLast(attempt: ReceiptFacts["attempt"]): Tier | null {
  if (!attempt) return null;
  const { submission, tier, tierRefusal, capacityRejections } = attempt;
  if (submission !== "not_attempted" || (capacityRejections > 0 && !tierRefusal)) return tier;
  return tierRefusal?.tier ?? null;
}

/** Returns the tier that an execution begins with. */
export const tierAskedFirst = (processing: Estimate["processing"]): Tier =>
  processing === "deferred" ? "flex" : "standard";

/**
 * Tells which tier was asked for, which one ran, and why they differ. A member that is unknown, or does not apply to
 * local work, is null.
 */
export function processingOf({
  provider,
  estimate,
  attempt,
  tier,
}: ReceiptFacts): Pick<
  Receipt,
  "fallbacks" | "processingTier" | "requestedProcessingTier" | "processingFallback" | "deferredDiscountBps"
> {
  if (provider === null)
    return {
      fallbacks: [],
      processingTier: null,
      requestedProcessingTier: null,
      processingFallback: null,
      deferredDiscountBps: null,
    };
  const from = tierAskedFirst(estimate.processing);
  const isRefused = Boolean(attempt?.tierRefusal);
  const isReplaced = isRefused || (from === "flex" && tier === "standard");
  return {
    fallbacks: isReplaced ? [`processing:${from}->standard`] : [],
    processingTier: tier ?? tierAskedLast(attempt),
    requestedProcessingTier: from,
    processingFallback: isReplaced
      ? { from, to: "standard", reason: isRefused ? "refused" : "served_standard" }
      : null,
    deferredDiscountBps: tier === "flex" ? estimate.deferredDiscountBps : 0,
  };
}

/** Returns all attempts in the order in which they were made. */
export const everyAttempt = ({ earlier, attempt }: ReceiptFacts) => [
  ...earlier,
  ...(attempt ? [attempt] : []),
];

/**
 * Tells for each call of an execution of several calls which provider took it, its usage and its cost. Returns no
 * `stages` for an execution of one call.
 */
export function receiptStages(facts: ReceiptFacts): Pick<Receipt, "stages"> {
  if (!facts.estimate.stages) return {};
  return {
    stages: everyAttempt(facts).map(({ attemptId, stage, provider, model, usage, costMicros }) => ({
      attemptId,
      stage: stage ?? "main",
      provider,
      model,
      usage,
      cost: costMicros === null ? null : toMoney(costMicros),
    })),
  };
}

/** Describes what became of each attempt's requests, without their content. */
export function receiptAttempts(facts: ReceiptFacts): Receipt["attempts"] {
  return everyAttempt(facts).map((attempt) => ({
    attemptId: attempt.attemptId,
    number: attempt.number,
    providerSubmission: receiptSubmission(attempt),
    providerRequestId: attempt.providerRequestId,
    providerModel: attempt.providerModel,
    httpStatus: attempt.httpStatus,
    errorCode: attempt.errorCode,
    tier: tierAskedLast(attempt),
    tierRefusal: attempt.tierRefusal,
    submissions: attempt.submissions,
    capacityRejections: attempt.capacityRejections,
    startedAt: attempt.startedAt.toISOString(),
    submissionBegunAt: attempt.submissionBegunAt?.toISOString() ?? null,
    answeredAt: attempt.answeredAt?.toISOString() ?? null,
  }));
}

/**
 * A request that was definitely refused still left, so it counts as attempted, although the attempt may be submitted
 * again.
 */
export function receiptSubmission(
  attempt: NonNullable<ReceiptFacts["attempt"]>,
): Receipt["providerSubmission"] {
  const { submission } = attempt;
  return submission === "not_attempted" && submissionsOf(attempt) > 0 ? "attempted" : submission;
}

/** Counts the requests that left for a provider in one attempt. */
export const submissionsOf = (attempt: NonNullable<ReceiptFacts["attempt"]>) =>
  attempt.capacityRejections + (attempt.tierRefusal ? 1 : 0) + attempt.submissions;
