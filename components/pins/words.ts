import { dollars } from "@/components/blocks/money/money";
import type { PinnedListItem, PinnedRecord } from "@/server/contract/pinned-records";

type Pin = PinnedRecord["pin"];

/** `openai / gpt-5.6 / responses`. */
export const pinWords = ({ provider, model, api }: Pin) => `${provider} / ${model} / ${api}`;

/** An execution's cost. Unknown is not zero. */
export function costWords({ cost }: Pick<PinnedListItem, "cost">): string {
  return cost === null ? "Unknown" : dollars(cost.amountMicros);
}

type Verdict = { isSafe: boolean; title: string; why: string };

/** Whether a record with this ending is safe to retry, and why. */
export function verdictOf(
  record: Pick<PinnedRecord, "status" | "safelyRetryable" | "providerSubmission">,
): Verdict {
  if (record.safelyRetryable)
    return {
      isSafe: true,
      title: "Safe to retry",
      why:
        record.providerSubmission === "not_attempted"
          ? "The request was never sent, so nothing ran and nothing was charged. You can send the same request again."
          : "The provider rejected the request before running it. You can send the same request again without running it twice.",
    };
  const title = "Not safe to retry";
  if (record.status === "succeeded")
    return {
      isSafe: false,
      title,
      why: "The request ran once and its response is here. Sending it again would be a second paid run.",
    };
  if (record.status === "ambiguous")
    return {
      isSafe: false,
      title,
      why: "The request was sent, but no complete response came back. The provider may have run and charged it, so sending it again could charge you twice.",
    };
  return {
    isSafe: false,
    title,
    why: "The provider ran the request but returned no usable response, and may have charged it. Sending it again would run it twice.",
  };
}
