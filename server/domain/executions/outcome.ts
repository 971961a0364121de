import type { Capability, OutputFile } from "@/server/capabilities/define";
import type { TextOutput } from "@/server/contract/inputs";
import type { Route } from "@/server/domain/catalog";
import { type Estimate, priceOf } from "@/server/domain/quotes";
import type { ErrorCode } from "@/server/errors";
import { log } from "@/server/log";
import type { Micros } from "@/server/money";
import {
  type AnyCall,
  ProviderFault,
  type ReportedProgress,
  type SubmissionState,
  type Tier,
  type Usage,
} from "@/server/providers/define";
import type { Json } from "@/server/step";
import { kindOfFault, type OutcomeKind, rowOf, type Settlement } from "./outcomes";

export type Observed = {
  submission: SubmissionState;
  providerRequestId: string | null;
  providerModel: string | null;
  httpStatus: number | null;
  /** The tier that ran, by the provider's word or as it was asked for; null: no answer tells. */
  tier: Tier | null;
  usage: Usage | null;
  /** At list price; null when the usage does not tell. */
  costMicros: Micros | null;
  /** Requests the provider took on, where there were two: an unfit answer was given back. The figures are of both. */
  submissions?: 2;
};

/**
 * What a provider answered to a request that failed. Only of the caller's own account has it a `message`, which is the
 * vendor's own: content, kept and removed with the rest of it.
 */
export type ProviderSaid = { status: number | null; code: string | null; message?: string | null };

/** What became of one submission, in our words. */
export type CallOutcome =
  | {
      state: "succeeded";
      observed: Observed;
      typedOutput: unknown;
      files: OutputFile[];
      finishReason: string | null;
    }
  | {
      state: "failed";
      kind: OutcomeKind;
      observed: Observed;
      code: ErrorCode;
      message: string;
      settlement: Settlement;
      /** More about the error, as its row in the table of errors allows. */
      details?: Record<string, Json>;
      said?: ProviderSaid;
      /** What there is of an answer that was cut off: kept to be read. */
      partial?: TextOutput;
    }
  | { state: "pending"; handle: Json; pollAfterMs: number; progress?: ReportedProgress }
  /** A definite "not now": may be sent again inside the admission deadline. */
  | {
      state: "refused_for_now";
      reason: "capacity" | "unreachable";
      retryAfterMs: number | null;
      message: string;
      said?: ProviderSaid;
      /** It was our own doing: nothing about the provider. */
      isOurs?: true;
    }
  | { state: "aborted"; submission: SubmissionState; why: AbortReason };

export type Failed = Extract<CallOutcome, { state: "failed" }>;

export type AbortReason = "deadline" | "canceled" | "lease_lost" | "shutdown";

const isAbortReason = (value: unknown): value is AbortReason =>
  value === "deadline" || value === "canceled" || value === "lease_lost" || value === "shutdown";

/** One call to be made, and what it is made for. */
export type Work = {
  /** Where it runs: an account of its own must be connected to it. */
  project: { id: string; environment: string };
  capability: Capability;
  input: unknown;
  route: Pick<Route, "provider" | "model">;
  call: AnyCall;
  /** What the capability made ready before its call. */
  material: unknown;
  estimate: Pick<Estimate, "bounds" | "account" | "adapters">;
  /** How long it may take altogether: what a vendor is to fetch can be fetched for as long. */
  executionSeconds: number;
  attemptId: string;
  /** What is asked for. */
  tier: Tier;
  /** Aborted with an AbortReason. */
  signal: AbortSignal;
  /** The caller takes an answer as it was said: cut off at its limit, or with calls of tools where an object was promised. */
  takesAsSaid?: boolean;
  now(): Date;
};

/** What is known of a call that nobody answered; of one whose request did leave, `submission` says so. */
export const nothingSent: Observed = {
  submission: "not_attempted",
  providerRequestId: null,
  providerModel: null,
  httpStatus: null,
  tier: null,
  usage: null,
  costMicros: null,
};

/** A call without a result. The outcome's row has its money; `code` is the capability's own, where the row has none. */
export function failed(
  kind: OutcomeKind,
  message: string,
  observed: Observed,
  more: { code?: ErrorCode; details?: Record<string, Json>; said?: ProviderSaid } = {},
): Failed {
  const { code, settlement } = rowOf(kind);
  return {
    state: "failed",
    kind,
    observed,
    code: more.code ?? code ?? "PROVIDER_ERROR",
    message,
    settlement,
    ...more,
  };
}

/** Translates the one error kind of providers; anything else is a bug of ours after a send nobody observed. */
export function toOutcome(cause: unknown, work: Work): CallOutcome {
  if (work.signal.aborted && isAbortReason(work.signal.reason)) {
    const submission = cause instanceof ProviderFault ? cause.submission : "ambiguous";
    return { state: "aborted", submission, why: work.signal.reason };
  }
  if (!(cause instanceof ProviderFault)) {
    log.error({ err: cause, attemptId: work.attemptId }, "a provider call failed in an unknown way");
    return failed("lost", LOST, { ...nothingSent, submission: "ambiguous" });
  }
  const { status, providerRequestId, retryAfterMs, usage = null } = cause.details;
  const { provider, model } = work.route;
  const costMicros = usage && priceOf(model.price, usage, { ...work.estimate.bounds, tier: work.tier });
  const kind = kindOfFault(cause, costMicros, provider.errorsAreBilled);
  const said = saidBy(cause, Boolean(work.estimate.account));
  if (kind === "capacity" || kind === "unreachable") {
    const { message } = cause;
    return { state: "refused_for_now", reason: kind, retryAfterMs: retryAfterMs ?? null, message, ...said };
  }
  const observed: Observed = {
    ...nothingSent,
    submission: cause.submission,
    httpStatus: status ?? null,
    providerRequestId: providerRequestId ?? null,
    usage,
    costMicros,
  };
  return kind === "lost"
    ? failed(kind, LOST, { ...observed, submission: "ambiguous" })
    : failed(kind, cause.message, observed, said);
}

/** What the provider answered, where it did; its message only where the account is the caller's own. */
export function saidBy({ details }: ProviderFault, isOwnAccount: boolean): { said?: ProviderSaid } {
  const { status, vendor } = details;
  if (status === undefined && !vendor) return {};
  const message = isOwnAccount ? { message: vendor?.message ?? null } : {};
  return { said: { status: status ?? null, code: vendor?.code ?? null, ...message } };
}

export const LOST = "The request was sent to the provider, and no answer came back.";
