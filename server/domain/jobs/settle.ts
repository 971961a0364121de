import type { Ctx } from "@/server/domain/ctx";
import {
  backoffOf,
  type CallOutcome,
  type Failed,
  gaveUp,
  LEASE_MS,
  type Lease,
  LOST,
} from "@/server/domain/executions";
import { failpoint } from "@/server/failpoint";
import { keepAndEnd } from "./answered";
import { cancelNow, end, type StepResult } from "./end-held";
import { endedAsFailed, endedWithout } from "./ended";
import { requeue } from "./requeue";
import { type AttemptRow, tierToAsk } from "./rows";
import { keepHandle, leaveTier, takeBack } from "./transitions/attempt";
import type { LoadedWork } from "./work";

/** A capacity refusal or a closed door is tried again inside this time from the job's start. */
const ADMISSION_DEADLINE_MS = 120_000;

/** What becomes of a call's outcome: the job's end, another try, or a look at what the provider took on. */
export async function settle(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
  outcome: CallOutcome,
): Promise<StepResult> {
  switch (outcome.state) {
    case "succeeded":
      return keepAndEnd(ctx, work, row, lease, outcome);
    case "failed":
      return isTierRefused(work, row, outcome)
        ? onStandard(ctx, row, lease, outcome)
        : end(ctx, work, row, lease, endedAsFailed(outcome, work.job, ctx.now()));
    case "pending":
      await keepHandle({
        ...under(ctx, row, lease, outcome.pollAfterMs),
        handle: outcome.handle,
        progress: outcome.progress ?? null,
        now: ctx.now(),
      });
      return { state: "pending", afterMs: outcome.pollAfterMs };
    case "refused_for_now": {
      const waited = ctx.now().getTime() - row.started_at.getTime();
      const rejections = row.capacity_rejections + (outcome.reason === "capacity" ? 1 : 0);
      const afterMs = backoffOf(waited, outcome.retryAfterMs);
      if (waited + afterMs > ADMISSION_DEADLINE_MS) {
        const refused: AttemptRow = { ...row, capacity_rejections: rejections };
        const { route, stage, job } = work;
        if (route) await gaveUp({ route, estimate: stage?.estimate ?? job.pricing }, outcome, ctx.now());
        return end(
          ctx,
          work,
          refused,
          lease,
          endedWithout(outcome.reason, outcome.message, { said: outcome.said }),
        );
      }
      const kept = await takeBack({
        ...under(ctx, row, lease, afterMs),
        capacityRejections: rejections,
      });
      return kept ? { state: "again", afterMs } : { state: "ended" };
    }
    case "aborted":
      return afterAbort(ctx, work, row, lease, outcome);
  }
}

/** A definite no to a request on a cheaper tier may be meant for the tier alone. */
const isTierRefused = (work: LoadedWork, row: AttemptRow, { settlement, observed }: Failed) =>
  tierToAsk(work.job, row) !== "standard" && settlement === "released" && observed.httpStatus === 400;

/** The refusal is written down before the request goes out again: whoever takes the job over asks for standard, too. */
async function onStandard(ctx: Ctx, row: AttemptRow, lease: Lease, refused: Failed): Promise<StepResult> {
  const now = ctx.now().toISOString();
  const left = await leaveTier({
    ...under(ctx, row, lease, 0),
    refusal: {
      tier: "flex",
      httpStatus: 400,
      message: refused.message,
      providerRequestId: refused.observed.providerRequestId,
      submittedAt: row.submission_begun_at?.toISOString() ?? now,
      refusedAt: now,
    },
  });
  failpoint("after-tier-refusal");
  return left ? { state: "again", afterMs: 0 } : { state: "ended" };
}

/** A cancel, the deadline, a lost lease or a shutdown ended the wait. */
export async function afterAbort(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
  outcome: Extract<CallOutcome, { state: "aborted" }>,
): Promise<StepResult> {
  if (outcome.why === "lease_lost") return { state: "ended" };
  const sent = outcome.submission !== "not_attempted";
  if (outcome.why === "canceled")
    return cancelNow(ctx, work, { ...row, submission: sent ? "ambiguous" : "not_attempted" }, lease);
  if (outcome.why === "deadline") {
    const message = `The provider did not answer within ${work.job.execution_seconds} seconds.`;
    return end(ctx, work, row, lease, endedWithout(sent ? "timed_out" : "timed_out_unsent", message));
  }
  // Shutdown: work the provider keeps is asked for by another worker, when this lease has ended; what may have run
  // ends as ambiguous; what was never sent goes back to the queue.
  if (row.handle !== null) return { state: "ended" };
  if (sent) return end(ctx, work, row, lease, endedWithout("lost", LOST));
  await takeBack({ ...under(ctx, row, lease, 0), capacityRejections: row.capacity_rejections });
  await requeue(ctx, work.job.id, lease.fence);
  return { state: "ended" };
}

/** What a move of the attempt is written under: its fence, and a lease that outlives the wait that follows. */
const under = (ctx: Ctx, row: AttemptRow, lease: Lease, waitMs: number) => ({
  jobId: lease.id,
  fence: lease.fence,
  attemptId: row.id,
  leaseUntil: new Date(ctx.now().getTime() + waitMs + LEASE_MS),
});
