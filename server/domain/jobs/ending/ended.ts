import {
  type CallOutcome,
  type Failed,
  kindOfResult,
  nothingSent,
  type Observed,
  type OutcomeKind,
  type ProviderSaid,
  rowOf,
} from "@/server/domain/executions";
import type { Json } from "@/server/platform/durable/step";
import type { ArtifactRow, AttemptRow, JobRow, StoredOutcome } from "../rows";
import { storedEvents, toOutput } from "../running/output";
import type { StoredAnswer, StoredArtifact } from "../transitions/answer";
import type { NewEvent } from "../transitions/moves";

/** An attempt that has ended, whether its outcome came just now or was read back from its row. */
export type Ended = {
  outcome: StoredOutcome;
  observed: Observed;
  /** Content that is not stored yet; null: nothing, or stored before. */
  fresh: { output: StoredAnswer["output"]; artifacts: StoredArtifact[] } | null;
  /** What the provider answered to what failed: stored with the end. */
  said?: ProviderSaid | undefined;
  /** What its caller has just stored; absent: it is read. */
  kept?: Kept;
  /** Nothing was sent, and what stopped it was ours: a synchronous execution gives its key back. */
  freesKey?: boolean;
};

/** Content that is stored already. */
export type Kept = { artifacts: ArtifactRow[]; outputHash: string | null };

/** The result of one turn of an execution, for the worker that holds it. */
export type Next =
  /** With the end that was written, and whether a cancel had the last word; without one, somebody else ended it or will.
   * `isUnsent`: and this process had sent nothing. */
  | { state: "ended"; ended?: Ended; isCanceled?: boolean; isUnsent?: boolean }
  | { state: "again"; afterMs: number }
  | { state: "pending"; afterMs: number };

/** An answer as a success. */
export const endedAsAnswered = ({
  observed,
  finishReason,
  unknownFinish,
}: Pick<Answer, "observed" | "finishReason" | "unknownFinish">): Pick<Ended, "outcome" | "observed"> => ({
  outcome: {
    outcome: "succeeded",
    code: null,
    message: null,
    settlement: rowOf(kindOfResult(observed.costMicros)).settlement,
    finishReason,
    ...(unknownFinish === undefined ? {} : { unknownFinish }),
  },
  observed,
});

export type Answer = Extract<CallOutcome, { state: "succeeded" }>;

/** A failure, as an end; what there is of an answer that was cut off is kept. */
export function endedAsFailed(outcome: Failed, job: JobRow, now: Date): Ended {
  const { partial } = outcome;
  return {
    outcome: {
      outcome: "failed",
      code: outcome.code,
      message: outcome.message,
      settlement: outcome.settlement,
      finishReason: null,
      ...(outcome.details ? { details: outcome.details } : {}),
    },
    observed: outcome.observed,
    said: outcome.said,
    freesKey: rowOf(outcome.kind).freesKey ?? false,
    fresh: { output: partial ? toOutput(job, partial, [], now) : null, artifacts: [] },
  };
}

/**
 * An end without any provider answer: never submitted, too late, canceled, or lost. Money, code and submission are those of
 * its kind unless `more` names others.
 */
export function endedWithout(
  kind: OutcomeKind,
  message: string | null,
  more: {
    code?: string | null;
    submission?: Observed["submission"];
    details?: StoredOutcome["details"];
  } = {},
): Ended {
  const { code, settlement, submission, freesKey = false } = rowOf(kind);
  return {
    outcome: {
      outcome: "failed",
      finishReason: null,
      code: more.code === undefined ? code : more.code,
      message,
      settlement,
      ...(more.details ? { details: more.details } : {}),
    },
    observed: { ...nothingSent, submission: more.submission ?? submission },
    freesKey,
    fresh: { output: null, artifacts: [] },
  };
}

/** An end read back from an attempt that stored its answer before. */
export function endedBefore(attempt: AttemptRow): Ended {
  if (!attempt.answer) throw new Error("the attempt has no stored answer");
  return {
    outcome: attempt.answer,
    observed: {
      submission: attempt.submission,
      providerRequestId: attempt.provider_request_id,
      providerModel: attempt.provider_model,
      httpStatus: attempt.http_status,
      tier: attempt.answer.tier ?? null,
      usage: attempt.usage,
      costMicros: attempt.cost_micros,
      ...(attempt.answer.submissions ? { submissions: attempt.answer.submissions } : {}),
      ...(attempt.answer.estimated ? { estimated: attempt.answer.estimated } : {}),
    },
    fresh: null,
  };
}

export const toAttemptUpdate = (
  attemptId: string,
  ended: Ended,
  answeredAt: Date,
  now: Date,
): NonNullable<StoredAnswer["attempt"]> => ({
  id: attemptId,
  submission: ended.observed.submission,
  provider_request_id: ended.observed.providerRequestId,
  provider_model: ended.observed.providerModel,
  answer: {
    ...ended.outcome,
    ...(ended.observed.tier ? { tier: ended.observed.tier } : {}),
    ...(ended.observed.submissions ? { submissions: ended.observed.submissions } : {}),
    ...(ended.observed.estimated ? { estimated: ended.observed.estimated } : {}),
  },
  usage: ended.observed.usage,
  http_status: ended.observed.httpStatus,
  error_code: ended.outcome.code,
  error_message: ended.outcome.message,
  cost_micros: ended.observed.costMicros,
  submission_begun_at: null,
  answered_at: ended.observed.submission === "attempted" ? answeredAt : null,
  ended_at: now,
});

/** What the answer statement stores: outcome, content and the artifacts' events. */
export function toAnswer(
  attemptId: string,
  ended: Ended,
  now: Date,
  sentAt: Date | null = null,
): StoredAnswer & { events: NewEvent[] } {
  return {
    attempt: { ...toAttemptUpdate(attemptId, ended, now, now), submission_begun_at: sentAt },
    output: ended.fresh?.output ?? null,
    artifacts: ended.fresh?.artifacts ?? [],
    // What is still to be worked on is reported when that is done.
    events: ended.outcome.unprocessed ? [] : storedEvents(ended.fresh?.artifacts ?? []),
  };
}

/** The warning of an answer that ended for a reason that is not known here: it is taken as whole. */
export const warningsOf = ({
  unknownFinish,
}: Pick<StoredOutcome, "unknownFinish">): Record<string, Json>[] =>
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
