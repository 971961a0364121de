import { dollars } from "@/components/blocks/money/money";
import type { PinnedListItem, PinnedRecord } from "@/server/contract/pinned-records";

type Pin = PinnedRecord["pin"];

/** `openai / gpt-5.6 / responses`. */
export const pinWords = ({ provider, model, api }: Pin) => `${provider} / ${model} / ${api}`;

/** An execution's cost. Unknown is not zero. */
export function costWords({ cost }: Pick<PinnedListItem, "cost">): string {
  return cost === null ? "Unknown" : dollars(cost.amountMicros);
}

/** The verdict on a record with this ending: whether it is safe to retry, and why. */
export function verdictOf({
  status,
  safelyRetryable: isSafe,
  providerSubmission,
}: Pick<PinnedRecord, "status" | "safelyRetryable" | "providerSubmission">) {
  const title = isSafe ? "Safe to retry" : "Not safe to retry";
  if (!isSafe) return { isSafe, title, why: UNSAFE[status] ?? UNSAFE.failed };
  return { isSafe, title, why: providerSubmission === "not_attempted" ? NEVER_SENT : REJECTED };
}

const NEVER_SENT =
  "The request was never sent, so nothing ran and nothing was charged. You can send the same request again.";
const REJECTED =
  "The provider rejected the request before running it. You can send the same request again without running it twice.";
const UNSAFE = {
  succeeded: "The request ran once and its response is here. Sending it again would be a second paid run.",
  ambiguous:
    "The request was sent, but no complete response came back. The provider may have run and charged it, so sending it again could charge you twice.",
  failed:
    "The provider ran the request but returned no usable response, and may have charged it. Sending it again would run it twice.",
};
