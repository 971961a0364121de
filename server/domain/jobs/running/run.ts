import type { Ctx } from "@/server/domain/ctx";
import { end, jobLeases, LEASE_MS, leaseOwner, type Next } from "@/server/domain/executions";
import { untilEnded } from "@/server/platform/durable/retry";
import type { Step } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { failpoint } from "@/server/platform/settings/failpoint";
import { type JobEnd, leased } from "../ending/end";
import { foundEnding, NOTHING } from "../ending/ending";
import { type AttemptRow, attemptById, type JobRow, lastAttemptOf, workedFrom } from "../rows";
import { type Claimed, claim, claimedBy } from "../transitions/claim";
import { promoteQueued } from "./promote-queued";
import { findPlace, type NextCall } from "./stages";
import { advance } from "./turn";
import { type LoadedWork, loadWork, readJob, storedInputHash, toLoaded } from "./work";

/** The engine stores this between steps, together with the outcome of a turn: only ids and states. */
type Started = { attemptId: string; fence: number; isBounded?: boolean };

/**
 * The flow of a durable job. The rows decide at every step, so a repeated step or a second run of the same
 * job changes nothing, and a request that may have left is never sent again.
 */
export async function run(ctx: Ctx, jobId: string, step: Step): Promise<void> {
  // Claim and first turn are one step: a repeated step finds the claim of this run again, so the claim need
  // not be stored before the turn.
  const begun = await step.run("attempt-1", () => begin(ctx, jobId, step.runId));
  if (!begun) return;
  const { started, result } = begun;
  await untilEnded(
    async (turn) =>
      turn === 1
        ? result
        : step.run(`attempt-${turn}`, async () => stored(await attempt(ctx, jobId, started))),
    (ms, turn) => step.sleep(`wait-${turn}`, ms),
  );
  if (started.isBounded)
    await step.run("wake-next", async () => {
      await promoteQueued(ctx.now());
      return null;
    });
}

/** A turn's outcome as the engine stores it, without the content of an ending. */
type Stored = { state: "ended" } | { state: "again" | "pending"; afterMs: number };
const stored = (next: Next<JobEnd>): Stored => (next.state === "ended" ? { state: "ended" } : next);

type Begun = { started: Started; result: Stored };

/** Claims the job and makes its first turn; null if there is nothing to do. */
async function begin(ctx: Ctx, jobId: string, runId: string): Promise<Begun | null> {
  const mine = await claimForRun(ctx, jobId, runId);
  return (
    mine && {
      started: mine.started,
      result: stored(await attempt(ctx, jobId, mine.started, { known: mine.claimed })),
    }
  );
}

/**
 * Claims the job, or finds that this run has claimed it before. Null if there is nothing to do: another run
 * has it, it has ended, its queue deadline has passed, or its plan has no room.
 */
export async function claimForRun(
  ctx: Ctx,
  jobId: string,
  runId: string,
): Promise<{ started: Started; claimed: Claimed | null } | null> {
  const claimed = await claim({
    jobId,
    runId,
    owner: leaseOwner,
    attemptId: newId("attempt"),
    leaseMs: LEASE_MS,
    now: ctx.now(),
  });
  if (claimed) {
    failpoint("after-claim");
    return { started: toStarted(claimed), claimed };
  }
  const before = await claimedBy(jobId, runId);
  return before && { started: before, claimed: null };
}

const toStarted = ({ attempt, fence, is_bounded }: Claimed): Started => ({
  attemptId: attempt.id,
  fence,
  isBounded: is_bounded,
});

/**
 * Makes one turn of a claimed job: submits it, asks the provider again about pending work, or ends an
 * answered job. The request is not read again if `known` (read with the claim) or `inHand` (held by a
 * synchronous execution) has it.
 */
export async function attempt(
  ctx: Ctx,
  jobId: string,
  started: Started,
  { known = null, inHand }: { known?: Claimed | null | undefined; inHand?: LoadedWork | undefined } = {},
): Promise<Next<JobEnd>> {
  const askedAt = performance.now();
  const [loaded, claimed] = known
    ? [toLoaded(known), known.attempt]
    : await Promise.all([inHand ? lookAgain(inHand) : loadWork(jobId), attemptById(started.attemptId)]);
  if (!loaded) return { state: "ended" };
  const { job } = loaded;
  if (job.fence !== started.fence || (job.status !== "running" && job.status !== "canceling"))
    return { state: "ended" };
  if (!claimed) throw new Error(`job ${jobId} is claimed and has no attempt`);
  const place: NextCall | null = loaded.work?.stages ? await findPlace(ctx, loaded.work, job.fence) : null;
  if (place === "waiting" || place === "lost") return { state: "ended" };
  // If the request can no longer be read, the last attempt decides how the job ends.
  const row = place?.row ?? (job.pricing.stages ? await lastAttemptOf(job) : claimed) ?? claimed;
  const work = place?.work ?? loaded.work;
  // The step was delivered twice: the other delivery has begun the submission, waits for the answer, and will
  // write its outcome.
  if (isUnderWay(job, row)) return { state: "again", afterMs: LEASE_MS };
  const remainingMs = workedFrom(job) + job.execution_seconds * 1000 - ctx.now().getTime();
  const goodUntil = known?.goodUntil ?? askedAt + (job.lease_left_ms ?? Number.NEGATIVE_INFINITY);
  const lease = jobLeases.hold(jobId, started.fence, { deadlineMs: remainingMs, goodUntil });
  try {
    // The lease of a late delivery may have ended. It is renewed so that the sweeper does not take this work
    // for abandoned.
    if (!known) await lease.gate(LEASE_MS / 3);
    if (work) return await advance({ ctx, work, row, lease });
    const unread = { code: "InternalFailure", message: "The request of this job can no longer be read." };
    const inputHash = await storedInputHash(jobId);
    const unreadTurn = { ctx, work: { job, inputHash }, row, lease };
    return await end(leased(unreadTurn, { kept: row.answer ? null : NOTHING }), foundEnding(row, unread));
  } finally {
    lease.release();
  }
}

/**
 * Reads the job's current row again for work whose request is already in memory; null if there is no such
 * job.
 */
async function lookAgain(work: LoadedWork) {
  const read = await readJob(work.job.id);
  const job = read && { ...work.job, ...read };
  return job && { job, work: { ...work, job } };
}

/** True if another delivery or another process has begun this submission and still holds the lease. */
function isUnderWay(job: JobRow, row: AttemptRow): boolean {
  if (row.submission !== "ambiguous" || row.answer !== null || row.handle !== null) return false;
  if (job.lease_owner === leaseOwner) return jobLeases.isHeld(job.id, job.fence);
  return (job.lease_left_ms ?? 0) > 0;
}
