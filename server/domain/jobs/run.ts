import { CapabilityFault } from "@/server/capabilities/define";
import {
  type AbortReason,
  type CallOutcome,
  gaveUp,
  LEASE_MS,
  type Lease,
  LOST,
  leaseOwner,
  pollCall,
  streamCall,
  submitCall,
} from "@/server/domain/attempts";
import type { Ctx } from "@/server/domain/ctx";
import { Fault, isErrorCode, ValidationFault } from "@/server/errors";
import { failpoint } from "@/server/failpoint";
import { newId } from "@/server/ids";
import { log } from "@/server/log";
import type { Step } from "@/server/step";
import {
  conclude,
  type Ended,
  endedAsFailed,
  endedBefore,
  endedWithout,
  keepFiles,
  keptFiles,
  toAnswer,
  toOutput,
} from "./conclude";
import { jobLeases } from "./leases";
import { readerOf } from "./reader";
import {
  type ArtifactRow,
  type AttemptRow,
  artifactsOf,
  attemptById,
  attemptOf,
  type JobRow,
  payloadsOf,
  type StoredOutcome,
  tierToAsk,
  UNPROCESSED,
  workedFrom,
} from "./rows";
import { runHere } from "./run-here";
import { type Content, findSetAside, forgetSetAside, setAnswerAside, setWorkAside } from "./set-aside";
import { findPlace, keepStage, keptOf, type Place } from "./stages";
import { storeAnswer } from "./transitions/answer";
import { beginSubmission, keepHandle, leaveTier, takeBack } from "./transitions/attempt";
import { type Claimed, claim, claimedBy } from "./transitions/claim";
import { transition } from "./transitions/moves";
import { wakeNext } from "./waiting-turns";
import {
  type LoadedWork,
  loadWork,
  makeReady,
  type ReadyWork,
  readJob,
  storedInputHash,
  toLoaded,
} from "./work";

/** What is stored between steps: ids and states. */
type Started = { attemptId: string; fence: number; isBounded?: true };
type StepResult =
  | { state: "ended" }
  | { state: "again"; afterMs: number }
  | { state: "pending"; afterMs: number };

/** A capacity refusal or a closed door is tried again inside this time from the job's start. */
const ADMISSION_DEADLINE_MS = 120_000;
/** Waits between tries to store an answer: long enough for a database that is started again. */
const STORE_WAITS_MS = [100, 900, 4_000];
/** Waits between tries to work on an answer's files: what fails for good fails the same each time. */
const REFINE_WAITS_MS = [100, 900];
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
  // Whether somebody waits for its end is not known any more: looking costs little.
  return before && { started: { ...before, isBounded: true }, claimed: null };
}

const toStarted = ({ attempt, fence, is_bounded }: Claimed): Started => ({
  attemptId: attempt.id,
  fence,
  ...(is_bounded ? { isBounded: true } : {}),
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
  const lease = jobLeases.hold(jobId, started.fence, Math.max(0, remainingMs));
  try {
    // Of a delivery that comes late the lease may be over: who sweeps must not take for abandoned what now goes on.
    if (!known && isNearItsEnd(ctx, job)) await jobLeases.renew(ctx.now());
    if (!work)
      return await endWithout(
        ctx,
        jobId,
        row,
        lease,
        "InternalFailure",
        "The request of this job can no longer be read.",
      );
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
      return await end(
        ctx,
        work,
        row,
        lease,
        endedWithout({ code: "TRANSPORT_AMBIGUOUS", message: LOST, settlement: "ambiguous" }, "ambiguous"),
      );
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
    const sent = row.submission !== "not_attempted";
    const { code, message } = fault;
    const ended = endedWithout(
      { code, message, settlement: sent ? "ambiguous" : "released" },
      row.submission,
    );
    await end(ctx, work, row, lease, ended);
    return null;
  }
}

const SOURCE_GONE = new Fault("PayloadUnavailable", "A file this job was to work on is no longer there.", {});

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
  return {
    state: "failed",
    observed,
    code: "PROVIDER_ERROR",
    message: "The answer is not the text that its reader was shown.",
    settlement: observed.costMicros === null ? "hold" : "cost",
  };
}

const callOf = (ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease) => ({
  now: ctx.now,
  isBlind: work.job.is_blind,
  project: { id: work.job.project_id, environment: work.job.environment },
  estimate: work.stage?.estimate ?? work.job.pricing,
  executionSeconds: work.job.execution_seconds,
  attemptId: row.id,
  tier: tierToAsk(work.job, row),
  signal: lease.signal,
});

async function settle(
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
        : end(ctx, work, row, lease, endedAsFailed(outcome));
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
      const backoff = Math.min(500 * 2 ** rejections, 10_000);
      const afterMs = Math.max(outcome.retryAfterMs ?? 0, backoff);
      const isCapacity = outcome.reason === "capacity";
      if (waited + afterMs > ADMISSION_DEADLINE_MS) {
        const refused: AttemptRow = { ...row, capacity_rejections: rejections };
        if (work.route) await gaveUp({ route: work.route, estimate: work.job.pricing }, outcome, ctx.now());
        return end(
          ctx,
          work,
          refused,
          lease,
          endedWithout(
            { code: "ProviderUnavailable", message: outcome.message, settlement: "released" },
            isCapacity ? "attempted" : "not_attempted",
          ),
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

type Failed = Extract<CallOutcome, { state: "failed" }>;

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

/** The provider has answered: content first, then the answer's row, then the end. Paid work is never thrown away. */
async function keepAndEnd(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
  outcome: Extract<CallOutcome, { state: "succeeded" }>,
): Promise<StepResult> {
  const settlement = outcome.observed.costMicros === null ? "hold" : "cost";
  const ended = {
    outcome: {
      outcome: "succeeded" as const,
      code: null,
      message: null,
      settlement,
      finishReason: outcome.finishReason,
    } satisfies StoredOutcome,
    observed: outcome.observed,
  };
  return storeAndEnd(ctx, work, row, lease, ended, outcome, STORE_WAITS_MS);
}

/** An operator asked for the step that kept failing to be done again, with the answer that was set aside. */
async function storeSetAside(ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease): Promise<StepResult> {
  const content = await findSetAside(work.job.id);
  const { outcome, observed } = endedBefore(row);
  const { isSetAside: _, ...whole } = outcome;
  const ended = { outcome: whole, observed };
  if (!content) {
    const held = { job: work.job, attemptId: row.id, fence: lease.fence };
    await setAnswerAside(ctx, held, ended, null);
    return { state: "ended" };
  }
  return storeAndEnd(ctx, work, row, lease, ended, content, []);
}

async function storeAndEnd(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
  answered: Pick<Ended, "outcome" | "observed">,
  content: Content,
  waitsMs: readonly number[],
): Promise<StepResult> {
  const isWhole = refinementOf(work) === null;
  const outcome = isWhole ? answered.outcome : { ...answered.outcome, unprocessed: true as const };
  for (let tried = 1; ; tried++) {
    try {
      const now = ctx.now();
      const files = isWhole
        ? content.files
        : content.files.map((file) => ({ ...file, slotStatus: UNPROCESSED }));
      const artifacts = await keepFiles(work.job, files, now);
      const fresh = {
        output:
          isWhole && !work.stage
            ? toOutput(work.job, content.typedOutput, [...(await filesBefore(work)), ...artifacts], now)
            : null,
        artifacts,
      };
      const stored = await storeAnswer({
        jobId: work.job.id,
        fence: lease.fence,
        now,
        ...toAnswer(row.id, { observed: answered.observed, outcome, fresh }, now),
      });
      if (!stored) return { state: "ended" };
      break;
    } catch (cause) {
      log.error({ err: cause, jobId: work.job.id, tried }, "the answer of a provider could not be stored");
      // Written after all, where only the word of it was lost.
      const known = await attemptOf(work.job).catch(() => null);
      if (known?.answer && !known.answer.isSetAside) break;
      const waitMs = waitsMs[tried - 1];
      if (waitMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        continue;
      }
      const held = { job: work.job, attemptId: row.id, fence: lease.fence };
      const isAside = await setAnswerAside(ctx, held, answered, row.answer?.isSetAside ? null : content);
      // A cancel came meanwhile: it has the last word, and what the provider's work cost stays.
      if (!isAside)
        await end(ctx, work, row, lease, { ...answered, fresh: { output: null, artifacts: [] } }, [
          "canceling",
        ]);
      return { state: "ended" };
    }
  }
  if (row.answer?.isSetAside) await forgetSetAside(work.job.id);
  failpoint("after-answer");
  const stored = await attemptOf(work.job);
  if (!stored) throw new Error("the attempt that was just answered is not there");
  return endAnswered(ctx, work, stored, lease);
}

/** The next turn goes on at once. */
const AGAIN: StepResult = { state: "again", afterMs: 0 };

/** The files of the stages before, which are part of what the job yields. */
const filesBefore = async ({ job, stages }: LoadedWork): Promise<ArtifactRow[]> =>
  stages ? artifactsOf(job) : [];

/** The work that is left to do here on the files of an answer; null: none. */
function refinementOf({ capability, input, route }: LoadedWork) {
  const execution = capability.execute;
  if ("local" in execution || !route) return null;
  return execution.refine?.(input as never, route.model) ?? null; // parsed by this capability's own schema
}

/** Ends a job whose answer is stored; first does what is still to be done with its files. */
async function endAnswered(ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease): Promise<StepResult> {
  const ended = endedBefore(row);
  const refine = refinementOf(work);
  if (work.stage && work.job.status === "running" && !ended.outcome.unprocessed) return AGAIN;
  // Of a canceled job nobody waits for the files: they stay as they came.
  if (!ended.outcome.unprocessed || !refine || work.job.status === "canceling")
    return end(ctx, work, row, lease, ended);
  const { unprocessed: _done, ...outcome } = ended.outcome;
  for (let tried = 1; ; tried++) {
    try {
      const { typedOutput, files, media } = await refine(await keptFiles(work.job));
      const now = ctx.now();
      const artifacts = await keepFiles(work.job, files, now);
      if (work.stage) {
        await keepStage(ctx, work, row, lease.fence, outcome, artifacts);
        return AGAIN;
      }
      const fresh = { output: toOutput(work.job, typedOutput, artifacts, now), artifacts };
      return await end(ctx, work, row, lease, {
        ...ended,
        outcome: { ...outcome, ...(media ? { media } : {}) },
        fresh,
      });
    } catch (cause) {
      if (cause instanceof CapabilityFault && isErrorCode(cause.code)) {
        const { code, message } = cause;
        const told = { ...outcome, outcome: "failed" as const, code, message };
        return end(ctx, work, row, lease, { ...ended, outcome: told });
      }
      log.error({ err: cause, jobId: work.job.id, tried }, "the files of an answer could not be worked on");
      const waitMs = REFINE_WAITS_MS[tried - 1];
      if (waitMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        continue;
      }
      const held = { job: work.job, attemptId: row.id, fence: lease.fence };
      if (!(await setWorkAside(ctx, held, ended))) await end(ctx, work, row, lease, ended, ["canceling"]);
      return { state: "ended" };
    }
  }
}

async function end(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
  ended: Ended,
  from: ("running" | "canceling")[] = ["running", "canceling"],
): Promise<StepResult> {
  const stored = ended.fresh === null;
  const [artifacts, payloads] = stored
    ? await Promise.all([artifactsOf(work.job), payloadsOf(work.job)])
    : [[], []];
  const conclusion = {
    job: work.job,
    inputHash: work.inputHash,
    outputHash: payloads.find((payload) => payload.kind === "output")?.sha256 ?? null,
    engine: "local" in work.capability.execute ? work.capability.execute.engine : null,
    attempt: row,
    artifacts,
    ended,
    fence: lease.fence,
    now: ctx.now(),
  };
  // A cancel that came meanwhile has the last word; the cost stays.
  for (const status of from) {
    if (await conclude({ ...conclusion, from: [status], canceled: status === "canceling" })) break;
  }
  return { state: "ended" };
}

/** A cancel, the deadline, a lost lease or a shutdown ended the wait. */
async function afterAbort(
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
    const message = `The provider had not answered after ${work.job.execution_seconds} seconds.`;
    const ended = endedWithout(
      { code: "ExecutionTimeout", message, settlement: sent ? "hold" : "released" },
      sent ? "attempted" : "not_attempted",
    );
    return end(ctx, work, row, lease, ended);
  }
  // Shutdown: work the provider keeps is asked for by another worker, when this lease has ended; what may have run
  // ends as ambiguous; what was never sent goes back to the queue.
  if (row.handle !== null) return { state: "ended" };
  if (sent)
    return end(
      ctx,
      work,
      row,
      lease,
      endedWithout({ code: "TRANSPORT_AMBIGUOUS", message: LOST, settlement: "ambiguous" }, "ambiguous"),
    );
  await takeBack({ ...under(ctx, row, lease, 0), capacityRejections: row.capacity_rejections });
  await requeue(ctx, work.job.id, lease.fence);
  return { state: "ended" };
}

async function cancelNow(ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease): Promise<StepResult> {
  const mayHaveRun = row.submission !== "not_attempted";
  const settlement = mayHaveRun ? "ambiguous" : "released";
  const ended = endedWithout({ code: null, message: null, settlement }, row.submission);
  await conclude({
    job: work.job,
    inputHash: work.inputHash,
    outputHash: null,
    engine: null,
    attempt: row,
    artifacts: [],
    ended,
    from: ["canceling"],
    fence: lease.fence,
    canceled: true,
    now: ctx.now(),
  });
  return { state: "ended" };
}

async function endWithout(
  ctx: Ctx,
  jobId: string,
  row: AttemptRow,
  lease: Lease,
  code: "InternalFailure",
  message: string,
): Promise<StepResult> {
  const job = await readJob(jobId);
  if (!job) return { state: "ended" };
  const sent = row.submission !== "not_attempted";
  await conclude({
    job,
    inputHash: await storedInputHash(jobId),
    outputHash: null,
    engine: null,
    attempt: row,
    artifacts: [],
    ended: endedWithout({ code, message, settlement: sent ? "ambiguous" : "released" }, row.submission),
    from: ["running"],
    fence: lease.fence,
    canceled: false,
    now: ctx.now(),
  });
  return { state: "ended" };
}

/** Nothing ran: the job goes back to the queue under the same attempt number. */
export function requeue(ctx: Ctx, jobId: string, fence: number, lastEvent?: number): Promise<boolean> {
  return transition({
    jobId,
    fence,
    ...(lastEvent === undefined ? {} : { lastEvent }),
    from: ["running"],
    to: "queued",
    now: ctx.now(),
    event: { type: "job.queued", payload: { reason: "lease_lost" } },
  });
}

/** What a move of the attempt is written under: its fence, and a lease that outlives the wait that follows. */
const under = (ctx: Ctx, row: AttemptRow, lease: Lease, waitMs: number) => ({
  jobId: lease.id,
  fence: lease.fence,
  attemptId: row.id,
  leaseUntil: new Date(ctx.now().getTime() + waitMs + LEASE_MS),
});
