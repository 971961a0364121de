import { type Ending, endingFound, type FoundEnding } from "@/server/domain/executions";
import type { Json } from "@/server/platform/durable/step";
import type { ArtifactRow, AttemptRow, StoredOutcome } from "../rows";
import { storedEvents } from "../running/output";
import type { StoredAnswer } from "../transitions/answer";
import type { NewEvent } from "../transitions/moves";

/** The content of an ending: new, to be stored with it, or stored before. */
export type Kept = Omit<StoredAnswer, "attempt"> | { artifacts: ArtifactRow[]; outputHash: string | null };

export const NOTHING = { output: null, artifacts: [] } satisfies Kept;

/** Content to store together with its ending; null if it was stored before. */
export const freshIn = (kept: Kept): Omit<StoredAnswer, "attempt"> | null => ("output" in kept ? kept : null);

/** The ending as its attempt stored it. Throws if the attempt has no answer. */
export function endingOf(attempt: AttemptRow): Ending {
  if (!attempt.answer) throw new Error("the attempt has no stored answer");
  const { outcome, tier = null, submissions, estimated, ...stored } = attempt.answer;
  return {
    ...stored,
    state: outcome,
    kind: null,
    observed: {
      submission: attempt.submission,
      providerRequestId: attempt.provider_request_id,
      providerModel: attempt.provider_model,
      httpStatus: attempt.http_status,
      tier,
      usage: attempt.usage,
      costMicros: attempt.cost_micros,
      ...(submissions ? { submissions } : {}),
      ...(estimated ? { estimated } : {}),
    },
  };
}

/** The facts of an execution that is found with this attempt. Without an attempt, nothing was sent. */
export const foundOf = (attempt: AttemptRow | null): FoundEnding => ({
  answered: attempt?.answer ? endingOf(attempt) : null,
  submission: attempt?.submission ?? "not_attempted",
});

/**
 * The ending of an execution that is found with this attempt and has no outcome of a call in this process.
 */
export const foundEnding = (attempt: AttemptRow | null, why: Parameters<typeof endingFound>[1]): Ending =>
  endingFound(foundOf(attempt), why);

/** An ending as its attempt stores it. Content and the provider's message are stored elsewhere. */
export const toStored = ({
  state,
  observed: { tier, submissions, estimated },
  ...ending
}: Ending): StoredOutcome => ({
  outcome: state,
  code: ending.code,
  message: ending.message,
  settlement: ending.settlement,
  finishReason: ending.finishReason,
  ...(ending.unknownFinish === undefined ? {} : { unknownFinish: ending.unknownFinish }),
  ...(ending.details ? { details: ending.details } : {}),
  ...(ending.media ? { media: ending.media } : {}),
  ...(ending.unprocessed ? { unprocessed: true } : {}),
  ...(ending.isSetAside ? { isSetAside: true } : {}),
  ...(tier ? { tier } : {}),
  ...(submissions ? { submissions } : {}),
  ...(estimated ? { estimated } : {}),
});

export const toAttemptUpdate = (
  attemptId: string,
  ending: Ending,
  answeredAt: Date,
  now: Date,
): NonNullable<StoredAnswer["attempt"]> => {
  const { code, message, observed } = ending;
  return {
    id: attemptId,
    submission: observed.submission,
    provider_request_id: observed.providerRequestId,
    provider_model: observed.providerModel,
    answer: toStored(ending),
    usage: observed.usage,
    http_status: observed.httpStatus,
    error_code: code,
    error_message: message,
    cost_micros: observed.costMicros,
    submission_begun_at: null,
    answered_at: observed.submission === "attempted" ? answeredAt : null,
    ended_at: now,
  };
};

/** The input of the statement that stores an answer: outcome, content and the events of the artifacts. */
export function toAnswer(
  attemptId: string,
  { ending, output, artifacts }: { ending: Ending } & Omit<StoredAnswer, "attempt">,
  now: Date,
  sentAt: Date | null = null,
): StoredAnswer & { events: NewEvent[] } {
  return {
    attempt: { ...toAttemptUpdate(attemptId, ending, now, now), submission_begun_at: sentAt },
    output,
    artifacts,
    // Files that still need processing are reported once that is done.
    events: ending.unprocessed ? [] : storedEvents(artifacts),
  };
}

/** The warning about a finish reason that we do not know; such an answer counts as complete. */
export const warningsOf = ({ unknownFinish }: Pick<Ending, "unknownFinish">): Record<string, Json>[] =>
  unknownFinish === undefined
    ? []
    : [
        {
          code: "UnknownFinishReason",
          message:
            "The provider ended the answer for a reason that is not known here. Check that the answer is whole.",
          details: { finishReason: unknownFinish },
        },
      ];
