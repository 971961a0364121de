import type { OutputFile } from "@/server/capabilities/define";
import type { TextOutput } from "@/server/contract/inputs";
import type { Json } from "@/server/platform/durable/step";
import type { ErrorCode } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";
import type { ReportedProgress, SubmissionState, Tier, Usage } from "@/server/providers/define";
import { kindOfResult, kindOfUnusable, type OutcomeKind, rowOf, type Settlement } from "./outcomes";

/* The outcome of one call as plain data: no database, no clock and no provider object. */

export type Observed = {
  submission: SubmissionState;
  providerRequestId: string | null;
  providerModel: string | null;
  httpStatus: number | null;
  /**
   * The tier that ran: as the provider reports it, else the requested tier. Null if there is neither an
   * answer nor reported usage.
   */
  tier: Tier | null;
  usage: Usage | null;
  /** At list price, perhaps estimated (`estimated`); null if unknown. */
  costMicros: Micros | null;
  /**
   * Set if the cost is our estimate. `partial`: it covers only the delivered part, or one of two submissions.
   */
  estimated?: "whole" | "partial";
  /**
   * Estimated cost of the delivered output if the cost of the whole answer is unknown. Charged if the answer
   * is unusable but its text reached the caller.
   */
  deliveredMicros?: Micros;
  /** The provider's name for the configuration that answered; only pinned executions store it. */
  providerFingerprint?: string | null;
  /**
   * 2 if a request to repair an unfit answer may also have run; the figures then cover both requests as far
   * as they are known.
   */
  submissions?: 2;
};

/**
 * A provider's reply to a failed request. It has a `message` only on the caller's own account: vendor text is
 * content, stored and deleted with the execution's other content.
 */
export type ProviderMessage = { status: number | null; code: string | null; message?: string | null };

/** The content of an answer as its capability parsed it. */
export type Content = { typedOutput: unknown; files: OutputFile[] };

/** How an execution or one of its calls ends, and how its money is settled. */
export type Ending = {
  state: "succeeded" | "failed";
  /** Null if read back from a row: rows do not store the kind. */
  kind: OutcomeKind | null;
  observed: Observed;
  /** Null for a result, and for a cancel, which is not an error. */
  code: string | null;
  message: string | null;
  settlement: Settlement;
  finishReason: string | null;
  /** The server's own finish reason if it is not one of the known reasons. */
  unknownFinish?: string;
  /** Further details of the error, as its row in the error table allows. */
  details?: Record<string, Json>;
  said?: ProviderMessage;
  /** The beginning of an answer that was cut off, stored so that it can be read. */
  partial?: TextOutput;
  /** How this installation made the files. */
  media?: Record<string, Json>;
  /** The provider's files are stored, but this installation still has to process them. */
  unprocessed?: true;
  /** The answer was set aside: its content still has to be stored as output. */
  isSetAside?: true;
};

/** An ending that this process observed or decided itself, so its kind is known. */
export type NewEnding = Ending & { kind: OutcomeKind };

/** The ending of a call without a result. */
export type CallFailed = NewEnding & { state: "failed"; code: ErrorCode | null };

/** Nothing ran: the request may be sent again within the admission deadline. */
export type CallRefused = {
  state: "retryable";
  reason: "capacity" | "unreachable";
  retryAfterMs: number | null;
  message: string;
  observed: Observed;
  said?: ProviderMessage;
  /** A store of this installation failed, so the refusal says nothing about the provider. */
  isInternal?: true;
};

/** Our own signal ended the wait. */
type CallAborted = { state: "aborted"; submission: SubmissionState; why: AbortReason };

export type CallPending = {
  state: "pending";
  handle: Json;
  pollAfterMs: number;
  progress?: ReportedProgress;
};

/** A result. `resultOf` turns it into an ending once its content is stored. */
export type CallAnswer = { state: "succeeded"; observed: Observed } & Content &
  Pick<Ending, "finishReason" | "unknownFinish">;

/** The outcome of one submission. `A`: its complete answer; `never` if it has none. */
export type CallOutcome<A = CallAnswer> = A | CallPending | CallFailed | CallRefused | CallAborted;

/**
 * The result of the check before a request leaves. `lost`: another process has claimed or ended the
 * execution. `unsure`: the database did not answer.
 */
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

/** The facts of a call of which only the submission state is known. */
export const unseen = (submission: SubmissionState): Observed => ({ ...nothingSent, submission });

/**
 * Makes an ending of this kind: a failure without a message unless `more` says otherwise. The outcome's row
 * provides the settlement, and the code unless `more` has one.
 */
export function ending(
  kind: OutcomeKind,
  observed: Observed,
  more: Partial<Omit<Ending, "kind" | "observed" | "settlement">> = {},
): NewEnding {
  const { code, settlement } = rowOf(kind);
  return { state: "failed", kind, observed, code, message: null, settlement, finishReason: null, ...more };
}

/**
 * Makes the outcome of a call without a result. `code` is that of the outcome's row unless the caller passes
 * another.
 */
export function failed(
  kind: OutcomeKind,
  message: string | null,
  observed: Observed,
  { code = rowOf(kind).code, ...more }: { code?: ErrorCode | null } & Pick<Ending, "details" | "said"> = {},
): CallFailed {
  return { ...ending(kind, observed, more), state: "failed", code, message };
}

/** Makes the ending of a call with a result. */
export const resultOf = ({
  observed,
  finishReason,
  unknownFinish,
}: Pick<CallAnswer, "observed" | "finishReason" | "unknownFinish">): NewEnding =>
  ending(kindOfResult(observed.costMicros), observed, {
    state: "succeeded",
    finishReason,
    ...(unknownFinish === undefined ? {} : { unknownFinish }),
  });

/**
 * True if nothing was sent for a reason of ours: the idempotency key is free again. False for an ending that
 * was read back from a row, because its kind is unknown.
 */
export const freesKey = ({ kind }: Pick<Ending, "kind">): boolean =>
  kind !== null && rowOf(kind).freesKey === true;

/**
 * True if a cancel ended the call. False for an ending that was read back from a row, because its kind is
 * unknown.
 */
export const isCancel = ({ kind }: Pick<Ending, "kind">): boolean =>
  kind === "canceled" || kind === "canceled_unsent";

/** A complete answer that cannot be used. The provider did the work, so a known cost is charged. */
export const unusable = (
  message: string,
  observed: Observed,
  code: ErrorCode = "PROVIDER_ERROR",
): CallFailed => failed(kindOfUnusable(observed.costMicros), message, observed, { code });

/** The failure of a call that was never sent, for a temporary reason in this installation. */
export const unavailable = (why: string): CallFailed =>
  failed("unavailable_unsent", `${why} Nothing was sent to the provider.`, nothingSent, {
    details: { retryAfterSeconds: 5 },
  });

/** Marks the request as sent with a lost answer: it may have run. */
export const lostAfter = (observed: Observed): Observed => ({ ...observed, submission: "ambiguous" });

export const LOST = "The request was sent to the provider, and no answer came back.";
