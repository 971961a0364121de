import type { OutputFile } from "@/server/capabilities/define";
import type { TextOutput } from "@/server/contract/inputs";
import { type Account, type PriceTerms, priceOf, type Route } from "@/server/domain/catalog";
import type { OpenAccount } from "@/server/domain/connections";
import type { Json } from "@/server/platform/durable/step";
import type { ErrorCode } from "@/server/platform/errors/errors";
import { log } from "@/server/platform/log/log";
import type { Micros } from "@/server/platform/money";
import {
  ProviderFault,
  type ReportedProgress,
  type SubmissionState,
  type Tier,
  type Usage,
} from "@/server/providers/define";
import type { Asked } from "./estimated-usage";
import { kindOfFault, kindOfUnusable, type OutcomeKind, rowOf, type Settlement } from "./outcomes";

/** Whom a call goes to, and under which terms. */
export type Call = {
  route: Pick<Route, "provider" | "model">;
  /** By which its route's health is kept; an account of the caller's own also hears what it met. */
  account: Account;
  /** Opens that account for this call alone; null: it is not connected any more, or does not open. */
  open(): Promise<OpenAccount | null>;
  /** The terms of its price, and the most output that the request allows. */
  bounds: PriceTerms & Pick<Usage, "outputTokens">;
  attemptId: string;
  /** What is sent, for the estimate of an answer that reports no usage; null: such an answer has none. */
  asked: (() => Asked) | null;
  /** The request. */
  tier: Tier;
  /** Aborted with an AbortReason. */
  signal: AbortSignal;
  /** Asked once, when all is ready to leave: nothing does unless it is open. Absent: something of this call has left before. */
  gate?: () => Promise<Gate>;
  now(): Date;
};

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
  /** The cost is our estimate, of a whole answer or of what was delivered before a failure. */
  estimated?: "whole" | "partial";
  /** Of a whole answer of unknown cost: the estimate of what was delivered, which is charged where only its text came to its caller. */
  deliveredMicros?: Micros;
  /** What the provider says of the very configuration that answered; only pinned executions keep it. */
  providerFingerprint?: string | null;
  /** Requests the provider took on, where there were two: an unfit answer was given back. The figures are of both. */
  submissions?: 2;
};

/**
 * What a provider answered to a request that failed. Only of the caller's own account has it a `message`, which is the
 * vendor's own: content, kept and removed with the rest.
 */
export type ProviderSaid = { status: number | null; code: string | null; message?: string | null };

/** An answer as its capability reads it. `unknownFinish`: the server's own word for its end, where none knows it. */
export type Content = {
  typedOutput: unknown;
  files: OutputFile[];
  finishReason: string | null;
  unknownFinish?: string;
};

export type Failed = {
  state: "failed";
  kind: OutcomeKind;
  observed: Observed;
  /** Null: a cancel, which is no error. */
  code: ErrorCode | null;
  message: string | null;
  settlement: Settlement;
  /** More about the error, as its row in the table of errors allows. */
  details?: Record<string, Json>;
  said?: ProviderSaid;
  /** What there is of an answer that was cut off: kept to be read. */
  partial?: TextOutput;
};

/** Nothing ran: may be sent again inside the admission deadline. */
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

/** What became of one submission, in our words. */
export type CallOutcome = ({ state: "succeeded"; observed: Observed } & Content) | Pending | NoAnswer;

/** May a request leave? `lost`: another process has the row, or ended it. `unsure`: the database does not say. */
export type Gate = "open" | "lost" | "unsure";

export type AbortReason = "deadline" | "canceled" | "lease_lost" | "shutdown";

const isAbortReason = (value: unknown): value is AbortReason =>
  value === "deadline" || value === "canceled" || value === "lease_lost" || value === "shutdown";

/** What is known of a call that no one answered; of one whose request did leave, `submission` says so. */
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
  message: string | null,
  observed: Observed,
  more: { code?: ErrorCode; details?: Record<string, Json>; said?: ProviderSaid } = {},
): Failed {
  const { code, settlement } = rowOf(kind);
  return {
    state: "failed",
    kind,
    observed,
    code: more.code ?? code,
    message,
    settlement,
    ...more,
  };
}

/** A complete answer that cannot be used: it was made, and costs what it cost. */
export const unusable = (message: string, observed: Observed, code: ErrorCode = "PROVIDER_ERROR"): Failed =>
  failed(kindOfUnusable(observed.costMicros), message, observed, { code });

/** The end of an answer of no use whose text came to its caller all the same: what was delivered is charged, whatever is known of the rest. */
export function chargedAsDelivered(outcome: Failed): Failed {
  const { kind, observed } = outcome;
  const { deliveredMicros } = observed;
  if (kind !== "unusable_without_usage" || deliveredMicros === undefined) return outcome;
  const { settlement } = rowOf("unusable");
  const charged: Observed = { ...observed, costMicros: deliveredMicros, estimated: "partial" };
  return { ...outcome, kind: "unusable", settlement, observed: charged };
}

/**
 * The outcome of a call that threw. No other code decides it. A definite no counts even if the wait was ended in the same
 * moment; what is no ProviderFault is a bug of ours after a send that no one observed.
 */
export function classify(cause: unknown, call: Call): NoAnswer {
  const { signal, attemptId, route, bounds } = call;
  const isDefinite =
    cause instanceof ProviderFault && (cause.kind === "refused" || cause.kind === "capacity");
  if (!isDefinite && signal.aborted && isAbortReason(signal.reason)) {
    const submission = cause instanceof ProviderFault ? cause.submission : "ambiguous";
    return { state: "aborted", submission, why: signal.reason };
  }
  if (!(cause instanceof ProviderFault)) {
    log.error({ err: cause, attemptId }, "a provider call failed in an unknown way");
    return failed("lost", LOST, lostAfter(nothingSent));
  }
  const { status, providerRequestId, retryAfterMs, usage = null } = cause.details;
  const tier = usage && tierOf(call, call.tier);
  const costMicros = usage && priceOf(route.model.price, usage, { ...bounds, tier: call.tier });
  const kind = kindOfFault(cause, costMicros, route.provider.errorsAreBilled);
  const said = saidBy(cause, typeof call.account === "object");
  const observed: Observed = {
    ...nothingSent,
    submission: cause.submission,
    httpStatus: status ?? null,
    providerRequestId: providerRequestId ?? null,
    tier,
    usage,
    costMicros,
  };
  if (kind === "capacity" || kind === "unreachable") {
    const { message } = cause;
    return {
      state: "retryable",
      reason: kind,
      retryAfterMs: retryAfterMs ?? null,
      message,
      observed,
      ...said,
    };
  }
  return kind === "lost"
    ? failed(kind, LOST, lostAfter(observed))
    : failed(kind, cause.message, observed, said);
}

/** What has no price of its own on a tier has the standard price. */
export const tierOf = ({ route }: Pick<Call, "route">, ran: Tier): Tier =>
  route.model.supports.deferred ? ran : "standard";

/** The same, of a request whose answer was lost. */
export const lostAfter = (observed: Observed): Observed => ({ ...observed, submission: "ambiguous" });

/** What the provider answered, where it did; its message only where the account is the caller's own. */
function saidBy({ details }: ProviderFault, isOwnAccount: boolean): { said?: ProviderSaid } {
  const { status, vendor } = details;
  if (status === undefined && !vendor) return {};
  const message = isOwnAccount ? { message: vendor?.message ?? null } : {};
  return { said: { status: status ?? null, code: vendor?.code ?? null, ...message } };
}

export const LOST = "The request was sent to the provider, and no answer came back.";
