import { noteFailure, noteSuccess, priceOf, SANDBOX } from "@/server/domain/catalog";
import { noteMet, type OpenAccount } from "@/server/domain/credentials";
import type { AbortReason } from "@/server/domain/executions";
import {
  healthOf,
  kindOfFault,
  LOST,
  type OutcomeKind,
  type ProviderSaid,
  rowOf,
  type Settlement,
  saidBy,
} from "@/server/domain/executions";
import { env } from "@/server/env";
import type { ErrorCode } from "@/server/errors";
import { log } from "@/server/log";
import { timeCall } from "@/server/metrics";
import type { Micros } from "@/server/money";
import { ProviderFault, type SubmissionState, type Tier, type Usage } from "@/server/providers/define";
import { type PinSent, sendPin } from "@/server/providers/pins";
import type { Clock } from "./clock";
import type { PinnedPlan } from "./rows";
import type { Target } from "./target";

/** What is known of what a vendor did: as far as it answered. */
export type Observed = {
  httpStatus: number | null;
  usage: Usage | null;
  /** At list price; null: unknown. */
  costMicros: Micros | null;
  providerRequestId: string | null;
  providerModel: string | null;
  providerFingerprint: string | null;
  /** The tier that ran; null: no answer tells. */
  tier: Tier | null;
};

export const NOTHING_OBSERVED: Observed = {
  httpStatus: null,
  usage: null,
  costMicros: null,
  providerRequestId: null,
  providerModel: null,
  providerFingerprint: null,
  tier: null,
};

/** An end that is no success. */
export type Failure = {
  status: "failed" | "ambiguous";
  code: ErrorCode;
  message: string;
  settlement: Settlement;
  /** May the same request be posted once more without anything running twice? */
  safelyRetryable: boolean;
};

/** What became of one submission. */
export type Outcome =
  | { state: "answered"; sent: PinSent; observed: Observed }
  | {
      state: "failed";
      submission: SubmissionState;
      failure: Failure;
      observed: Observed;
      said?: ProviderSaid;
    }
  /** A definite "not now": nothing ran, and the same bytes may be sent again inside the admission deadline. */
  | {
      state: "not_now";
      reason: "capacity" | "unreachable";
      submission: "attempted" | "not_attempted";
      message: string;
      retryAfterMs: number | null;
      observed: Observed;
      said?: ProviderSaid;
    }
  /** We stopped it ourselves before anything left. */
  | { state: "stopped" };

export type Submission = {
  target: Target;
  plan: Pick<PinnedPlan, "tier" | "limits" | "credentialId">;
  account: OpenAccount;
  /** The body, the same at each submission. */
  bytes: Uint8Array;
  /** By this name the vendor's log counts what arrived. */
  pinnedId: string;
  /** Of the lease: shutdown ends a wait. A lost lease does not, since what comes is worth knowing all the same. */
  stop: AbortSignal;
  clock: Clock;
};

/** Sends the bytes once, under a signal and a time limit of their own, and says what became of it. Never rejects. */
export async function submitOnce(submission: Submission): Promise<Outcome> {
  const { target, plan, account, bytes, clock, stop } = submission;
  const { provider, api, model } = target;
  const controller = new AbortController();
  const callOff = clock.after(plan.limits.timeoutSeconds * 1000, () =>
    controller.abort("deadline" satisfies AbortReason),
  );
  const onStop = () => {
    if (stop.reason !== ("lease_lost" satisfies AbortReason)) controller.abort(stop.reason);
  };
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop);
  const called = {
    provider,
    model,
    account: plan.credentialId === null ? ("sandbox" as const) : { credentialId: plan.credentialId },
  };
  try {
    const io = {
      ...account,
      model,
      attemptId: submission.pinnedId,
      tier: plan.tier,
      signal: controller.signal,
      allowPrivateAddresses: provider.name === SANDBOX || env.ALLOW_PRIVATE_ADDRESSES,
    };
    const sent = await timeCall(provider.name, () => sendPin(api, bytes, io));
    await noteSuccess(called);
    if (plan.credentialId !== null) noteMet(plan.credentialId, null, clock.now());
    return { state: "answered", sent, observed: observedOf(target, plan.tier, sent) };
  } catch (cause) {
    const outcome = toOutcome(cause, submission, controller.signal);
    if (plan.credentialId !== null && !controller.signal.aborted)
      noteMet(plan.credentialId, cause, clock.now());
    const health = cause instanceof ProviderFault ? healthOf(cause) : null;
    if (health) await noteFailure(called, health, clock.now());
    return outcome;
  } finally {
    callOff();
    stop.removeEventListener("abort", onStop);
  }
}

function observedOf({ model }: Target, asked: Tier, sent: PinSent): Observed {
  const tier = tierThatRan(model.supports.deferred, sent.tier ?? asked);
  return {
    httpStatus: sent.status,
    usage: sent.usage,
    costMicros: priceOf(model.price, sent.usage, { tier }),
    providerRequestId: sent.providerRequestId,
    providerModel: sent.providerModel,
    providerFingerprint: sent.providerFingerprint,
    tier,
  };
}

/** What has no price of its own on a tier has the standard price. */
const tierThatRan = (hasFlex: boolean | undefined, ran: Tier): Tier => (hasFlex ? ran : "standard");

function toOutcome(cause: unknown, { target, plan, pinnedId }: Submission, signal: AbortSignal): Outcome {
  if (!(cause instanceof ProviderFault)) {
    log.error({ err: cause, pinnedId }, "a pinned call failed in an unknown way");
    return failed("lost", LOST);
  }
  const { status, providerRequestId, retryAfterMs, usage, aborted } = cause.details;
  const { price, supports } = target.model;
  const tier = tierThatRan(supports.deferred, plan.tier);
  const costMicros = usage ? priceOf(price, usage, { tier }) : null;
  const observed: Observed = {
    ...NOTHING_OBSERVED,
    httpStatus: status ?? null,
    providerRequestId: providerRequestId ?? null,
    usage: usage ?? null,
    costMicros,
    tier: usage ? tier : null,
  };
  const said = saidBy(cause, plan.credentialId !== null);
  const isDeadline = aborted && signal.reason === ("deadline" satisfies AbortReason);
  switch (cause.kind) {
    case "unreachable":
      if (aborted && !isDeadline) return { state: "stopped" };
      return notNow(cause, "unreachable", "not_attempted", observed);
    case "capacity":
      return { ...notNow(cause, "capacity", "attempted", observed, retryAfterMs), ...said };
    case "lost":
      return isDeadline
        ? failed(
            "timed_out",
            `The request was sent to the provider, which did not answer within ${plan.limits.timeoutSeconds} seconds.`,
          )
        : failed("lost", LOST);
    default: {
      const kind = kindOfFault(cause, costMicros, target.provider.errorsAreBilled);
      return { ...failed(kind, cause.message, observed), ...said };
    }
  }
}

const notNow = (
  { message }: ProviderFault,
  reason: "capacity" | "unreachable",
  submission: "attempted" | "not_attempted",
  observed: Observed,
  retryAfterMs?: number,
): Outcome => ({
  state: "not_now",
  reason,
  submission,
  message,
  retryAfterMs: retryAfterMs ?? null,
  observed,
});

/** A submission without a result, as its kind's row has it. */
function failed(kind: OutcomeKind, message: string, observed = NOTHING_OBSERVED): Outcome {
  const { settlement, isSafe, pinned, ...row } = rowOf(kind);
  const { code, submission } = pinned ?? row;
  return {
    state: "failed",
    submission,
    failure: {
      status: settlement === "ambiguous" ? "ambiguous" : "failed",
      code: code ?? "PROVIDER_ERROR",
      message,
      settlement,
      safelyRetryable: isSafe,
    },
    observed,
  };
}
