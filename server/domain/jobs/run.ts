import type { Ctx } from "@/server/domain/ctx";
import {
  type AbortReason,
  type CallOutcome,
  DIFFERS,
  failed,
  kindOfUnusable,
  LEASE_MS,
  type Lease,
  LOST,
  leaseOwner,
  pollCall,
  streamCall,
  submitCall,
} from "@/server/domain/executions";
import { Fault, ValidationFault } from "@/server/errors";
import { failpoint } from "@/server/failpoint";
import { newId } from "@/server/ids";
import type { Step } from "@/server/step";
import { endAnswered, storeSetAside } from "./answered";
import { cancelNow, end, endWithout, type StepResult } from "./end-held";
import { endedWithout } from "./ended";
import { jobLeases } from "./leases";
import { readerOf } from "./reader";
import { type AttemptRow, attemptById, attemptOf, type JobRow, tierToAsk, workedFrom } from "./rows";
import { runHere } from "./run-here";
import { afterAbort, settle } from "./settle";
import { findPlace, keptOf, type Place } from "./stages";
import { beginSubmission } from "./transitions/attempt";
import { type Claimed, claim, claimedBy } from "./transitions/claim";
import { wakeNext } from "./waiting-turns";
import { type LoadedWork, loadWork, makeReady, type ReadyWork, toLoaded } from "./work";

/** What is stored between steps, with what a turn came to: ids and states. */
type Started = { attemptId: string; fence: number; isBounded?: boolean };

/** A turn that lost a race looks again after this long. */
const LOOK_AGAIN_MS = 100;

/**
 * The flow of a durable job. The rows decide at every step, so a repeated step or a second run of the same job
 * changes nothing, and a request that may have left is never sent again.
 */
export async function run(ctx: Ctx, jobId: string, step: Step): Promise<void> {
  // One step: what was claimed need not be stored before the first turn, as this run finds it again.
  const begun = await step.run("attempt-1", () => begin(ctx, jobId, step.runId));
  if (!begun) return;
  const { started } = begun;
  let { result } = begun;
  for (let turn = 1; result.state !== "ended"; turn++) {
    await step.sleep(`wait-${turn}`, result.afterMs);
    result = await step.run(`attempt-${turn + 1}`, () => attempt(ctx, jobId, started));
  }
  if (started.isBounded)
    await step.run("wake-next", async () => {
      await wakeNext(ctx.now());
      return null;
    });
}

type Begun = { started: Started; result: StepResult };

/** Takes the job and makes its first turn; null where there is nothing to do. */
async function begin(ctx: Ctx, jobId: string, runId: string): Promise<Begun | null> {
  const mine = await start(ctx, jobId, runId);
  return mine && { started: mine.started, result: await attempt(ctx, jobId, mine.started, mine.claimed) };
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
 * What was read with the claim spares the first turn to read it again.
 */
export async function attempt(
  ctx: Ctx,
  jobId: string,
  started: Started,
  known: Claimed | null = null,
): Promise<StepResult> {
  const [loaded, claimed] = known
    ? [toLoaded(known), known.attempt]
    : await Promise.all([loadWork(jobId), attemptById(started.attemptId)]);
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
  // A step that was delivered twice: the other one has sent, waits for the answer, and will write what becomes of it.
  if (isUnderWay(ctx, job, row)) return { state: "again", afterMs: LEASE_MS };
  const remainingMs = workedFrom(job) + job.execution_seconds * 1000 - ctx.now().getTime();
  const lease = jobLeases.hold(jobId, started.fence, remainingMs);
  try {
    // Of a delivery that comes late the lease may be over: who sweeps must not take for abandoned what now goes on.
    if (!known && isNearItsEnd(ctx, job)) await jobLeases.renew(ctx.now());
    if (!work)
      return await endWithout(ctx, jobId, row, lease, "The request of this job can no longer be read.");
    if (row.answer?.isSetAside && job.status === "running") return await storeSetAside(ctx, work, row, lease);
    if (row.answer) return await endAnswered(ctx, work, row, lease);
    if (job.status === "canceling") return await cancelNow(ctx, work, row, lease);

    if ("local" in work.capability.execute) return await runLocally(ctx, work, row, lease);
    if (row.handle !== null) {
      const ready = await readyOrEnd(ctx, work, row, lease);
      if (!ready) return { state: "ended" };
      const outcome = await pollCall({ ...ready, ...callOf(ctx, work, row, lease) }, row.handle);
      return await settle(ctx, work, row, lease, outcome);
    }
    if (row.submission === "ambiguous") {
      return await end(ctx, work, row, lease, endedWithout("lost", LOST));
    }
    const ready = await readyOrEnd(ctx, work, row, lease);
    if (!ready) return { state: "ended" };
    const begun = await beginSubmission({
      jobId,
      fence: started.fence,
      attemptId: row.id,
      owner: leaseOwner,
      tier: tierToAsk(job, row),
      now: ctx.now(),
    });
    if (!begun) return { state: "again", afterMs: LOOK_AGAIN_MS };
    failpoint("after-submission-begun");
    const outcome = await submit(ctx, ready, row, lease);
    return await settle(
      ctx,
      work,
      { ...row, submission: "ambiguous", submission_begun_at: ctx.now() },
      lease,
      outcome,
    );
  } finally {
    lease.release();
  }
}

const isNearItsEnd = (ctx: Ctx, { lease_until }: JobRow) =>
  lease_until === null || lease_until.getTime() - ctx.now().getTime() < LEASE_MS / 3;

/** Has this submission begun elsewhere, by somebody whose lease still runs? */
function isUnderWay(ctx: Ctx, job: JobRow, row: AttemptRow): boolean {
  if (row.submission !== "ambiguous" || row.answer !== null || row.handle !== null) return false;
  if (job.lease_owner === leaseOwner) return jobLeases.isHeld(job.id, job.fence);
  return job.lease_until !== null && job.lease_until > ctx.now();
}

/** The work with its call; null where it cannot be made any more, and then the job has ended with the reason. */
async function readyOrEnd(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
): Promise<ReadyWork | null> {
  try {
    return await makeReady(work, await keptOf(work));
  } catch (cause) {
    const fault = cause instanceof ValidationFault ? SOURCE_GONE : cause;
    if (!(fault instanceof Fault)) throw cause;
    // Work that a provider has taken is not over because its files cannot be read here now.
    const { code, message } = fault;
    const { submission } = row;
    const kind = submission === "not_attempted" ? "content_gone" : "lost";
    await end(ctx, work, row, lease, endedWithout(kind, message, { code, submission }));
    return null;
  }
}

const SOURCE_GONE = new Fault(
  "PayloadUnavailable",
  "An input file of this job was removed. Upload it again and submit a new job.",
  {},
);

/** Work done here: nothing is sent, and after a crash it is done again. */
async function runLocally(ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease): Promise<StepResult> {
  try {
    return await end(ctx, work, row, lease, await runHere(ctx, work, lease.signal));
  } catch (cause) {
    if (!lease.signal.aborted) throw cause;
    const why = lease.signal.reason as AbortReason; // of a lease it is nothing else
    return afterAbort(ctx, work, row, lease, { state: "aborted", submission: "not_attempted", why });
  }
}

/** Makes the one call of this attempt; with a reader its text is told as it comes. */
async function submit(ctx: Ctx, work: ReadyWork, row: AttemptRow, lease: Lease): Promise<CallOutcome> {
  const call = { ...work, ...callOf(ctx, work, row, lease) };
  if (!work.hasReader) return submitCall(call);
  const reader = readerOf(work.job, lease.fence, ctx.now);
  const outcome = await streamCall(call, reader.push);
  await reader.settled();
  if (outcome.state !== "succeeded") return outcome;
  // What was told must be what is sealed, to the letter.
  const { content } = outcome.typedOutput as { content?: unknown }; // admitted for plain text only
  if ((await reader.close(String(content))) !== "differs") return outcome;
  const { observed } = outcome;
  return failed(kindOfUnusable(observed.costMicros), DIFFERS, observed, { code: "PROVIDER_ERROR" });
}

const callOf = (ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease) => ({
  now: ctx.now,
  project: { id: work.job.project_id, environment: work.job.environment },
  estimate: work.stage?.estimate ?? work.job.pricing,
  executionSeconds: work.job.execution_seconds,
  attemptId: row.id,
  tier: tierToAsk(work.job, row),
  signal: lease.signal,
});
