import type { Span } from "@/components/blocks/chart/waterfall";
import type { PinnedRecord } from "@/server/contract/pinned-records";

type Timed = Pick<
  PinnedRecord,
  "createdAt" | "startedAt" | "completedAt" | "attempts" | "schedulerWaitMs" | "providerExecutionMs"
>;
type Attempt = PinnedRecord["attempts"][number];

const SUBMISSION: Record<Attempt["submission"], string> = {
  not_attempted: "not sent",
  attempted: "answered",
  ambiguous: "sent, no complete response",
};

/** A submission's outcome: `answered, HTTP 429, ProviderUnavailable`. */
function outcomeOf({ submission, httpStatus, errorCode }: Attempt): string {
  return [SUBMISSION[submission], httpStatus && `HTTP ${httpStatus}`, errorCode].filter(Boolean).join(", ");
}

/** The record's timing in order: the queue wait, every submission with the wait before it, the provider, the total. */
export function pinSpans(record: Timed): Span[] {
  const at = (moment: string) => Math.max(0, Date.parse(moment) - Date.parse(record.createdAt));
  const endMs = at(record.completedAt);
  const spans: Span[] = [];
  const wait = (key: string, name: string, fromMs: number, toMs: number) =>
    spans.push({ key, name, kind: "wait", fromMs, toMs });

  if (record.schedulerWaitMs !== null) wait("turn", "Queue wait", 0, record.schedulerWaitMs);
  let before: number | null = null;
  for (const attempt of record.attempts) {
    const [fromMs, toMs] = [at(attempt.startedAt), attempt.endedAt ? at(attempt.endedAt) : endMs];
    if (before !== null)
      wait(`retry-${attempt.number}`, `Wait before submission ${attempt.number}`, before, fromMs);
    spans.push({
      key: `submission-${attempt.number}`,
      name: `Submission ${attempt.number}`,
      kind: "work",
      fromMs,
      toMs,
      outcome: outcomeOf(attempt),
      wentWell: attempt.submission === "attempted" && attempt.errorCode === null,
    });
    before = toMs;
  }
  const admitted = record.attempts.findLast(({ submission }) => submission !== "not_attempted");
  if (admitted && record.providerExecutionMs !== null) {
    const toMs = admitted.endedAt ? at(admitted.endedAt) : endMs;
    spans.push({
      key: "provider",
      name: "Provider processing",
      kind: "provider",
      fromMs: Math.max(0, toMs - record.providerExecutionMs),
      toMs,
    });
  }
  spans.push({ key: "total", name: "Total", kind: "total", fromMs: 0, toMs: endMs });
  return spans;
}
