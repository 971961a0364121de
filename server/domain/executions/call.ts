import { accountName, noteSuccess, priceOf, recordRouteFailure, SANDBOX } from "@/server/domain/catalog";
import {
  baseName,
  isOperatorsAddress,
  learnedOf,
  type OpenAccount,
  recordConnectionOutcome,
} from "@/server/domain/connections";
import { log } from "@/server/platform/log/log";
import { timeCall } from "@/server/platform/log/metrics";
import type { Micros } from "@/server/platform/money";
import { env } from "@/server/platform/settings/env";
import {
  type Delivered,
  type Progress,
  ProviderFault,
  type ProviderIo,
  type Tier,
  type Usage,
} from "@/server/providers/define";
import { type CallOutcome, type CallRefused, failed, nothingSent, type Observed } from "./call-outcome";
import { type CallTerms, classify, tierOf } from "./classify";
import { estimatedUsage } from "./estimated-usage";
import { routeHealthAfter } from "./outcomes";

/**
 * Opens the account, checks that this process still holds the execution, sends once, and records the health
 * of the route and the connection. Never rejects: if a store of ours fails before anything could leave, the
 * outcome is a refusal, after which the request may be sent again. The capability has not parsed the `result`
 * of an answer yet.
 */
export async function send<R>(
  call: CallTerms,
  ask: (io: ProviderIo) => Promise<Progress<R>>,
): Promise<CallOutcome<{ state: "answered"; result: R; observed: Observed }>> {
  const { provider, model } = call.route;
  let account: OpenAccount | null;
  try {
    account = await call.open();
  } catch (cause) {
    return refuseInternally(call, cause, "The provider account of this route could not be read.");
  }
  if (!account)
    return failed("unsendable", "The provider account of this route is no longer connected.", nothingSent);
  const gate = await call.gate?.();
  if (gate === "lost") return { state: "aborted", submission: "not_attempted", why: "lease_lost" };
  if (gate === "unsure") return refuseInternally(call, null, UNSURE);
  const { attemptId, tier, signal } = call;
  const { requestRules, ...opened } = account;
  const io: ProviderIo = {
    ...opened,
    ...{ model, attemptId, tier, signal },
    ...learnedOf({ account: call.account, baseUrl: opened.baseUrl, requestRules }, model.id),
    allowPrivateAddresses: provider.name === SANDBOX || env.ALLOW_PRIVATE_ADDRESSES,
    isOperatorsAddress: isOperatorsAddress(provider, account.baseUrl),
  };
  let progress: Progress<R>;
  try {
    const labels = { provider: baseName(provider.name), account: accountOf(call) };
    progress = await timeCall(labels, () => ask(io), kindOf);
  } catch (cause) {
    const outcome = await withEstimate(classify(cause, call), cause, call);
    if (outcome.state !== "aborted") noteConnection(call, cause);
    const health =
      outcome.state === "failed" && cause instanceof ProviderFault ? routeHealthAfter(cause) : null;
    if (health) await recordRouteFailure(calledBy(call), health, call.now());
    return outcome;
  }
  await noteSuccess(calledBy(call));
  if (progress.state === "pending") return progress;
  noteConnection(call, null);
  const { result, usage, providerRequestId, providerModel, httpStatus, delivered } = progress;
  const ran = tierOf(call, progress.tier ?? tier);
  const known = usage && priceOf(model.price, usage, { ...call.bounds, tier: ran });
  const estimate =
    known === null && delivered ? await estimateOf(call, { delivered, usage, tier: ran }) : null;
  const isWhole = hiddenOutputOf(call) === 1;
  const observed: Observed = {
    submission: "attempted",
    providerRequestId,
    providerModel,
    httpStatus,
    tier: ran,
    usage,
    costMicros: known ?? (isWhole ? estimate : null),
    ...(estimate === null ? {} : isWhole ? { estimated: "whole" } : { deliveredMicros: estimate }),
  };
  return { state: "answered", result, observed };
}

type Unreported = { delivered: Delivered; usage: Usage | null; tier: Tier };

/**
 * Output tokens that a call may have used for each token we saw; undefined if unknown. On the caller's own
 * account only visible tokens count, and vectors have no output.
 */
function hiddenOutputOf({ account, route }: CallTerms): number | undefined {
  return typeof account === "object" || route.model.port === "embedding" ? 1 : route.model.hiddenOutput;
}

/**
 * Estimates the cost of a whole or partial answer from its output if the reported usage does not determine
 * it. Null if the call has no tokens to count or the model has no price for them.
 */
async function estimateOf(call: CallTerms, { delivered, usage, tier }: Unreported): Promise<Micros | null> {
  const { route, asked, bounds } = call;
  if (!asked) return null;
  const estimated = await estimatedUsage(asked(), delivered, {
    model: route.model,
    reported: usage,
    hiddenOutput: hiddenOutputOf(call) ?? 1,
    mostOutput: bounds.outputTokens,
  });
  return priceOf(route.model.price, estimated, { ...bounds, tier });
}

/**
 * Turns an error of unknown cost that came after output into one that is charged by an estimate of that
 * output. Other outcomes stay.
 */
async function withEstimate(
  outcome: CallOutcome<never>,
  cause: unknown,
  call: CallTerms,
): Promise<CallOutcome<never>> {
  const delivered = cause instanceof ProviderFault ? cause.details.delivered : undefined;
  if (outcome.state !== "failed" || outcome.kind !== "error" || !delivered) return outcome;
  const { usage, tier } = outcome.observed;
  const costMicros = await estimateOf(call, { delivered, usage, tier: tier ?? tierOf(call, call.tier) });
  if (costMicros === null) return outcome;
  const observed: Observed = { ...outcome.observed, costMicros, estimated: "partial" };
  return failed("error_after_output", outcome.message, observed, outcome.said ? { said: outcome.said } : {});
}

const UNSURE = "The database could not be reached before the request was sent.";

/**
 * Logs that a store of this installation failed before anything could leave, and returns a refusal, after
 * which the request may be sent again.
 */
export function refuseInternally(
  { attemptId }: Pick<CallTerms, "attemptId">,
  cause: unknown,
  message: string,
): CallRefused {
  log.error({ ...(cause ? { err: cause } : {}), attemptId }, message);
  return {
    state: "retryable",
    reason: "unreachable",
    retryAfterMs: null,
    message,
    observed: nothingSent,
    isInternal: true,
  };
}

/** The route and account under which the health of a call is recorded. */
const calledBy = ({ route, account }: Pick<CallTerms, "route" | "account">) => ({ ...route, account });

/**
 * The account label in metrics. Sandbox calls need no account and carry the operator's, so they get their own
 * label.
 */
const accountOf = ({ route, account }: Pick<CallTerms, "route" | "account">): string =>
  route.provider.name === SANDBOX ? SANDBOX : accountName(account);

/**
 * Records the outcome for the owners of a customer's connection; the operator's account has no such record.
 */
function noteConnection({ account, now }: CallTerms, cause: unknown): void {
  if (typeof account === "object") recordConnectionOutcome(account.credentialId, cause, now());
}

/** Counts the last refusal against the route once the call will not be sent again. */
export const noteExhausted = (
  call: Pick<CallTerms, "route" | "account">,
  { reason }: CallRefused,
  now: Date,
): Promise<void> => recordRouteFailure(calledBy(call), reason, now);

/**
 * The metrics label of an error: a fault's kind, `stopped` if we aborted the call, `broken` if the error is
 * ours.
 */
function kindOf(cause: unknown): string {
  if (!(cause instanceof ProviderFault)) return "broken";
  return cause.details.aborted ? "stopped" : cause.kind;
}
