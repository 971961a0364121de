import { type Account, type PriceTerms, priceOf, type Route } from "@/server/domain/catalog";
import type { OpenAccount } from "@/server/domain/connections";
import { log } from "@/server/platform/log/log";
import { ProviderFault, type Tier, type Usage } from "@/server/providers/define";
import {
  type AbortReason,
  type CallFailed,
  type CallOutcome,
  failed,
  type Gate,
  LOST,
  lostAfter,
  nothingSent,
  type Observed,
  type ProviderMessage,
} from "./call-outcome";
import type { RequestSize } from "./estimated-usage";
import { kindOfFault, rowOf } from "./outcomes";

/** The destination and the terms of one call. */
export type CallTerms = {
  route: Pick<Route, "provider" | "model">;
  /** Health is recorded per route and account. The caller's own account also gets the outcome of the call. */
  account: Account;
  /** Opens that account for this call alone; null if it is no longer connected or cannot be opened. */
  open(): Promise<OpenAccount | null>;
  /** The terms of the price, and the maximum output that the request allows. */
  bounds: PriceTerms & Pick<Usage, "outputTokens">;
  attemptId: string;
  /**
   * Reads the request for the estimate of an answer without usage; null if such an answer has no estimate.
   */
  asked: (() => RequestSize) | null;
  /** The requested tier. */
  tier: Tier;
  /** Aborted with an AbortReason. */
  signal: AbortSignal;
  /**
   * Called once, when the request is ready; nothing leaves unless the gate is open. Absent if part of this
   * call has left already.
   */
  gate?: () => Promise<Gate>;
  now(): Date;
};

const isAbortReason = (value: unknown): value is AbortReason =>
  value === "deadline" || value === "canceled" || value === "lease_lost" || value === "shutdown";

/**
 * Charges the estimated cost of an unusable answer's output, because its text reached the caller. Other
 * outcomes stay.
 */
export function chargedAsDelivered(outcome: CallFailed): CallFailed {
  const { kind, observed } = outcome;
  const { deliveredMicros } = observed;
  if (kind !== "unusable_without_usage" || deliveredMicros === undefined) return outcome;
  const { settlement } = rowOf("unusable");
  const charged: Observed = { ...observed, costMicros: deliveredMicros, estimated: "partial" };
  return { ...outcome, kind: "unusable", settlement, observed: charged };
}

/**
 * The outcome of a call that threw. A definite refusal counts even if the wait was aborted at the same
 * moment. Any error that is not a ProviderFault is a bug of ours, and the request may have left.
 */
export function classify(cause: unknown, call: CallTerms): CallOutcome<never> {
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
  const ran = tierOf(call, cause.details.tier ?? call.tier);
  const costMicros = usage && priceOf(route.model.price, usage, { ...bounds, tier: ran });
  const kind = kindOfFault(cause, costMicros, route.provider.errorsAreBilled);
  const said = saidBy(cause, typeof call.account === "object");
  const observed: Observed = {
    ...nothingSent,
    submission: cause.submission,
    httpStatus: status ?? null,
    providerRequestId: providerRequestId ?? null,
    tier: usage && ran,
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

/** Falls back to the standard tier if the model does not support deferred processing. */
export const tierOf = ({ route }: Pick<CallTerms, "route">, ran: Tier): Tier =>
  route.model.supports.deferred ? ran : "standard";

/** The provider's reply, if there was one. Its message is included only on the caller's own account. */
function saidBy({ details }: ProviderFault, isOwnAccount: boolean): { said?: ProviderMessage } {
  const { status, vendor } = details;
  if (status === undefined && !vendor) return {};
  const message = isOwnAccount ? { message: vendor?.message ?? null } : {};
  return { said: { status: status ?? null, code: vendor?.code ?? null, ...message } };
}
