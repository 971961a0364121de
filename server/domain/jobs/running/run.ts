import type { Ctx } from "@/server/domain/ctx";
import { jobLeases, LEASE_MS, leaseOwner } from "@/server/domain/executions";
import { untilEnded } from "@/server/platform/durable/retry";
import type { Step } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { failpoint } from "@/server/platform/settings/failpoint";
import { finishLeased } from "../ending/end";
import { foundEnding, type Next, NOTHING } from "../ending/ending";
import { type AttemptRow, attemptById, attemptOf, type JobRow, workedFrom } from "../rows";
import { type Claimed, claim, claimedBy } from "../transitions/claim";
import { promoteQueued } from "./promote-queued";
import { findPlace, type Place } from "./stages";
import { advance } from "./turn";
import { type LoadedWork, loadWork, readJob, storedInputHash, toLoaded } from "./work";

/** What is stored between steps, with the outcome of a turn: ids and states. */
type Started = { attemptId: string; fence: number; isBounded?: boolean };

/**
 * The flow of a durable job. The rows decide at every step, so a repeated step or a second run of the same job
 * changes nothing, and a request that may have left is never sent again.
 */
export async function run(ctx: Ctx, jobId: string, step: Step): Promise<void> {
  // One step: what was claimed need not be stored before the first turn, as this run finds it again.
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

/** As the engine keeps it: never the content of an end. */
type Stored = { state: "ended" } | { state: "again" | "pending"; afterMs: number };
const stored = (next: Next): Stored => (next.state === "ended" ? { state: "ended" } : next);

type Begun = { started: Started; result: Stored };

/** Takes the job and makes its first turn; null where there is nothing to do. */
async function begin(ctx: Ctx, jobId: string, runId: string): Promise<Begun | null> {
  const mine = await start(ctx, jobId, runId);
  return (
    mine && {
      started: mine.started,
      result: stored(await attempt(ctx, jobId, mine.started, { known: mine.claimed })),
    }
  );
}

/**
 * Takes the job, or finds that this run has taken it before. Null where there is nothing to do: another's, ended,
 * canceled, or too late.
 */
export async function start(
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
 * One turn of a claimed job: submit what was not submitted, ask again for what is pending, or end what was answered.
 * What was read with the claim, or what a synchronous execution has in hand, is not read again.
 */
export async function attempt(
  ctx: Ctx,
  jobId: string,
  started: Started,
  { known = null, inHand }: { known?: Claimed | null | undefined; inHand?: LoadedWork | undefined } = {},
): Promise<Next> {
  const askedAt = performance.now();
  const [loaded, claimed] = known
    ? [toLoaded(known), known.attempt]
    : await Promise.all([inHand ? lookAgain(inHand) : loadWork(jobId), attemptById(started.attemptId)]);
  if (!loaded) return { state: "ended" };
  const { job } = loaded;
  if (job.fence !== started.fence || (job.status !== "running" && job.status !== "canceling"))
    return { state: "ended" };
  if (!claimed) throw new Error(`job ${jobId} is claimed and has no attempt`);
  const place: Place | null = loaded.work?.stages ? await findPlace(ctx, loaded.work, job.fence) : null;
  if (place === "waiting" || place === "lost") return { state: "ended" };
  // Where the request can no longer be read, what was sent last tells how it ends.
  const row = place?.row ?? (job.pricing.stages ? await attemptOf(job) : claimed) ?? claimed;
  const work = place?.work ?? loaded.work;
  // A step that was delivered twice: the other one has sent, waits for the answer, and will write its outcome.
  if (isUnderWay(job, row)) return { state: "again", afterMs: LEASE_MS };
  const remainingMs = workedFrom(job) + job.execution_seconds * 1000 - ctx.now().getTime();
  const goodUntil = known?.goodUntil ?? askedAt + (job.lease_left_ms ?? Number.NEGATIVE_INFINITY);
  const lease = jobLeases.hold(jobId, started.fence, { deadlineMs: remainingMs, goodUntil });
  try {
    // Of a delivery that comes late the lease may be over: who sweeps must not take for abandoned what now goes on.
    if (!known) await lease.gate(LEASE_MS / 3);
    if (work) return await advance({ ctx, work, row, lease });
    const unread = { code: "InternalFailure", message: "The request of this job can no longer be read." };
    const inputHash = await storedInputHash(jobId);
    const unreadTurn = { ctx, work: { job, inputHash }, row, lease };
    return await finishLeased(unreadTurn, foundEnding(row, unread), row.answer ? null : NOTHING);
  } finally {
    lease.release();
  }
}

/** Work whose request this process has in hand, with its row as it is now. */
async function lookAgain(work: LoadedWork) {
  const read = await readJob(work.job.id);
  const job = read && { ...work.job, ...read };
  return job && { job, work: { ...work, job } };
}

/** Has this submission begun elsewhere, by somebody whose lease still runs? */
function isUnderWay(job: JobRow, row: AttemptRow): boolean {
  if (row.submission !== "ambiguous" || row.answer !== null || row.handle !== null) return false;
  if (job.lease_owner === leaseOwner) return jobLeases.isHeld(job.id, job.fence);
  return (job.lease_left_ms ?? 0) > 0;
}
