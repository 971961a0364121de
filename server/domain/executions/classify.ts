import { type Account, type PriceTerms, priceOf, type Route } from "@/server/domain/catalog";
import type { OpenAccount } from "@/server/domain/connections";
import { log } from "@/server/platform/log/log";
import { ProviderFault, type Tier, type Usage } from "@/server/providers/define";
import {
  type AbortReason,
  type Failed,
  failed,
  type Gate,
  LOST,
  lostAfter,
  type NoAnswer,
  nothingSent,
  type Observed,
  type ProviderSaid,
} from "./call-outcome";
import type { Asked } from "./estimated-usage";
import { kindOfFault, rowOf } from "./outcomes";

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

const isAbortReason = (value: unknown): value is AbortReason =>
  value === "deadline" || value === "canceled" || value === "lease_lost" || value === "shutdown";

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

/** What has no price of its own on a tier has the standard price. */
export const tierOf = ({ route }: Pick<Call, "route">, ran: Tier): Tier =>
  route.model.supports.deferred ? ran : "standard";

/** What the provider answered, where it did; its message only where the account is the caller's own. */
function saidBy({ details }: ProviderFault, isOwnAccount: boolean): { said?: ProviderSaid } {
  const { status, vendor } = details;
  if (status === undefined && !vendor) return {};
  const message = isOwnAccount ? { message: vendor?.message ?? null } : {};
  return { said: { status: status ?? null, code: vendor?.code ?? null, ...message } };
}
