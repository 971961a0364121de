import type { OutputFile } from "@/server/capabilities/define";
import type { TextOutput } from "@/server/contract/inputs";
import type { Json } from "@/server/platform/durable/step";
import type { ErrorCode } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";
import type { ReportedProgress, SubmissionState, Tier, Usage } from "@/server/providers/define";
import { kindOfResult, kindOfUnusable, type OutcomeKind, rowOf, type Settlement } from "./outcomes";

/* The outcome of one call, as data: no database, no clock, and nothing of the provider but what it answered. */

export type Observed = {
  submission: SubmissionState;
  providerRequestId: string | null;
  providerModel: string | null;
  httpStatus: number | null;
  /** The tier that ran: the one that the provider reports, else the requested one. Null without an answer. */
  tier: Tier | null;
  usage: Usage | null;
  /** At list price; null when the usage does not tell. */
  costMicros: Micros | null;
  /** The cost is our estimate, of a whole answer or of what was delivered before a failure. */
  estimated?: "whole" | "partial";
  /** The estimated cost of what was delivered, for a whole answer of unknown cost; charged if only its text reached the caller. */
  deliveredMicros?: Micros;
  /** The provider's name for the configuration that answered; only pinned executions keep it. */
  providerFingerprint?: string | null;
  /** Requests the provider took on, where there were two: an unfit answer was given back. The figures are of both. */
  submissions?: 2;
};

/**
 * A provider's reply to a request that failed. Only on an account of the caller's own does it have a `message`, in the vendor's
 * words: content, which is kept and removed with the rest.
 */
export type ProviderSaid = { status: number | null; code: string | null; message?: string | null };

/** The content of an answer, as its capability reads it. */
export type Content = { typedOutput: unknown; files: OutputFile[] };

/** How an execution ends, or one of its calls: with a result or without one, and what becomes of the money. */
export type Ending = {
  state: "succeeded" | "failed";
  /** Null: read back from a row, which does not keep it. */
  kind: OutcomeKind | null;
  observed: Observed;
  /** Null: a result, or a cancel, which is no error. */
  code: string | null;
  message: string | null;
  settlement: Settlement;
  finishReason: string | null;
  /** The server's own word for an end that is none of those known. */
  unknownFinish?: string;
  /** More about the error, as its row in the table of errors allows. */
  details?: Record<string, Json>;
  said?: ProviderSaid;
  /** How files were made here. */
  media?: Record<string, Json>;
  /** The provider's files are kept, and something is still to be done with them here. */
  unprocessed?: true;
  /** The answer was set aside: its content still has to be stored as output. */
  isSetAside?: true;
};

/** An end that was seen or decided just now. */
export type NewEnding = Ending & { kind: OutcomeKind };

/** A call without a result. */
export type Failed = NewEnding & {
  state: "failed";
  code: ErrorCode | null;
  /** The beginning of an answer that was cut off; it is stored, so that it can be read. */
  partial?: TextOutput;
};

/** Nothing ran: the request may be sent again inside the admission deadline. */
export type Refused = {
  state: "retryable";
  reason: "capacity" | "unreachable";
  retryAfterMs: number | null;
  message: string;
  observed: Observed;
  said?: ProviderSaid;
  /** A store of this installation failed: nothing about the provider. */
  isInternal?: true;
};

/** Our own signal ended the wait. */
export type Aborted = { state: "aborted"; submission: SubmissionState; why: AbortReason };

export type Pending = { state: "pending"; handle: Json; pollAfterMs: number; progress?: ReportedProgress };

/** The outcome of a call without an answer that can be used. */
export type NoAnswer = Failed | Refused | Aborted;

/** A result, which ends a call or an execution (`resultOf`) when its content is stored. */
export type Answer = { state: "succeeded"; observed: Observed } & Content &
  Pick<Ending, "finishReason" | "unknownFinish">;

/** The outcome of one submission. */
export type CallOutcome = Answer | Pending | NoAnswer;

/** May a request leave? `lost`: another process has the row, or ended it. `unsure`: the database does not say. */
export type Gate = "open" | "lost" | "unsure";

export type AbortReason = "deadline" | "canceled" | "lease_lost" | "shutdown";

/** The facts of a call without an answer. If its request left, `submission` is replaced. */
export const nothingSent: Observed = {
  submission: "not_attempted",
  providerRequestId: null,
  providerModel: null,
  httpStatus: null,
  tier: null,
  usage: null,
  costMicros: null,
};

/** An end of this kind: the outcome's row has its money, and its code unless `more` has another. Without a result, unless `more` says so. */
export function ending(
  kind: OutcomeKind,
  observed: Observed,
  more: Partial<Omit<Ending, "kind" | "observed" | "settlement">> = {},
): NewEnding {
  const { code, settlement } = rowOf(kind);
  return { state: "failed", kind, observed, code, message: null, settlement, finishReason: null, ...more };
}

/** The outcome of a call without a result; `code` is the capability's own, where the row has none. */
export function failed(
  kind: OutcomeKind,
  message: string | null,
  observed: Observed,
  { code = rowOf(kind).code, ...more }: { code?: ErrorCode | null } & Pick<Ending, "details" | "said"> = {},
): Failed {
  return { ...ending(kind, observed, more), state: "failed", code, message };
}

/** The end of a call with a result. */
export const resultOf = ({
  observed,
  finishReason,
  unknownFinish,
}: Pick<Answer, "observed" | "finishReason" | "unknownFinish">): NewEnding =>
  ending(kindOfResult(observed.costMicros), observed, {
    state: "succeeded",
    finishReason,
    ...(unknownFinish === undefined ? {} : { unknownFinish }),
  });

/** Nothing was sent, and what stopped it was ours: an idempotency key is free again. */
export const freesKey = ({ kind }: Pick<Ending, "kind">): boolean =>
  kind !== null && rowOf(kind).freesKey === true;

/** A complete answer that cannot be used. It was made, so it is charged. */
export const unusable = (message: string, observed: Observed, code: ErrorCode = "PROVIDER_ERROR"): Failed =>
  failed(kindOfUnusable(observed.costMicros), message, observed, { code });

/** The failure of a call that was never sent, for a passing reason of this installation. */
export const unavailable = (why: string): Failed =>
  failed("unavailable_unsent", `${why} Nothing was sent to the provider.`, nothingSent, {
    details: { retryAfterSeconds: 5 },
  });

/** The same of a request that was sent and whose answer was lost. */
export const lostAfter = (observed: Observed): Observed => ({ ...observed, submission: "ambiguous" });

export const LOST = "The request was sent to the provider, and no answer came back.";
