import { formatUsd } from "@/components/jobs/format-usd";
import type { PinnedListItem, PinnedRecord } from "@/server/contract/pinned";

type Pin = PinnedRecord["pin"];

/** `openai / gpt-5.6 / responses`. */
export const pinWords = ({ provider, model, api }: Pin) => `${provider} / ${model} / ${api}`;

/** What an execution cost; unknown is no zero. */
export function costWords({ cost }: Pick<PinnedListItem, "cost">): string {
  return cost === null ? "Unknown" : formatUsd(cost.amountMicros / 1_000_000);
}

type Verdict = { isSafe: boolean; title: string; why: string };

/** May what ended like this be sent again, and why, in plain words. */
export function verdictOf(
  record: Pick<PinnedRecord, "status" | "safelyRetryable" | "providerSubmission">,
): Verdict {
  if (record.safelyRetryable)
    return {
      isSafe: true,
      title: "Safely retryable",
      why:
        record.providerSubmission === "not_attempted"
          ? "Nothing left this house, so nothing ran and nothing is charged. The same request may be sent again."
          : "The provider refused it before doing anything. The same request may be sent again without running twice.",
    };
  const title = "Must not be sent again";
  if (record.status === "succeeded")
    return {
      isSafe: false,
      title,
      why: "It ran once and its answer is here. Another would be a second paid run.",
    };
  if (record.status === "ambiguous")
    return {
      isSafe: false,
      title,
      why: "It left, and no whole answer came back: it may have run, and may be charged. Sending it again could run it twice.",
    };
  return {
    isSafe: false,
    title,
    why: "The provider took it and its answer is no usable one: it ran, and may be charged. Sending it again would run it twice.",
  };
}
