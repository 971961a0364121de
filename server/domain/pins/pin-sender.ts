import type { OpenAccount } from "@/server/domain/credentials";
import { type AbortReason, type Call, type NoAnswer, type Observed, send } from "@/server/domain/executions";
import { type PinSent, sendPin } from "@/server/providers/pins";
import type { Clock } from "./clock";
import type { PinnedPlan } from "./rows";
import type { Target } from "./target";

export type Submission = {
  target: Target;
  plan: Pick<PinnedPlan, "tier" | "limits" | "credentialId">;
  account: OpenAccount;
  /** The body, the same at each submission. */
  bytes: Uint8Array;
  /** By this name the vendor's log counts what arrived. */
  pinnedId: string;
  /** Of the lease, for the wait for an answer. */
  stop: AbortSignal;
  clock: Clock;
};

export type PinOutcome = { state: "succeeded"; sent: PinSent; observed: Observed } | NoAnswer;

/** Whose account a plan runs on, as the health of routes is kept. */
export const calledBy = (
  { provider, model }: Target,
  { credentialId }: Pick<PinnedPlan, "credentialId">,
) => ({
  route: { provider, model },
  account: credentialId === null ? ("sandbox" as const) : { credentialId },
});

/** Sends the bytes once, under a signal and a time limit of their own, and says what became of it. Never rejects. */
export async function submitOnce(submission: Submission): Promise<PinOutcome> {
  const { target, plan, account, bytes, clock, stop, pinnedId } = submission;
  const limit = new AbortController();
  const callOff = clock.after(plan.limits.timeoutSeconds * 1000, () =>
    limit.abort("deadline" satisfies AbortReason),
  );
  const call: Call = {
    ...calledBy(target, plan),
    open: async () => account,
    bounds: {},
    attemptId: pinnedId,
    tier: plan.tier,
    signal: AbortSignal.any([stop, limit.signal]),
    now: clock.now,
  };
  try {
    const outcome = await send(call, async (io) => {
      const sent = await sendPin(target.api, bytes, io);
      return { ...sent, state: "done", result: sent, httpStatus: sent.status };
    });
    switch (outcome.state) {
      case "answered": {
        const { result: sent, observed } = outcome;
        const { providerFingerprint } = sent;
        return { state: "succeeded", sent, observed: { ...observed, providerFingerprint } };
      }
      case "pending":
        throw new Error("no interface that can be pinned answers with a handle");
      default:
        return outcome;
    }
  } finally {
    callOff();
  }
}
