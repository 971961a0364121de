import {
  type AbortReason,
  accountOf,
  apply,
  backoffOf,
  type CallAnswer,
  type CallFailed,
  type CallOutcome,
  type CallPending,
  DIFFERS,
  decide,
  decideTurn,
  type ExecutionFacts,
  end,
  failed,
  forgetUnsent,
  type Gate,
  isKnownUnsent,
  LEASE_MS,
  leaseOwner,
  type Next,
  nothingSent,
  pollCall,
  streamCall,
  submitCall,
  unseen,
  unusable,
} from "@/server/domain/executions";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { failpoint } from "@/server/platform/settings/failpoint";
import type { TextCall } from "@/server/providers/define";
import { type JobEnd, leased } from "../ending/end";
import { foundOf } from "../ending/ending";
import { correctUnsentJob } from "../ending/never-sent";
import { frameWriter } from "../following/frames";
import { readerOf } from "../following/reader";
import { type AttemptRow, tierToAsk } from "../rows";
import { beginSubmission, fallBackToStandard, keepHandle, releaseSubmission } from "../transitions/attempt";
import { requeueJob } from "../transitions/moves";
import { endAnswered, keepAnswer, keepAtEnd, storeSetAside } from "./keep-answer";
import { runHere } from "./run-here";
import { readStageFiles } from "./stages";
import { type JobTurn, makeReady, type ReadyWork } from "./work";

type ReadyTurn = JobTurn & { work: ReadyWork };

/** A turn that lost a race looks again after this delay. */
const LOOK_AGAIN_MS = 100;

/**
 * Makes one turn of a claimed execution. The rows decide whether to submit it, to ask the provider again, or
 * to end an answered one.
 */
export async function advance(turn: JobTurn): Promise<Next<JobEnd>> {
  const { job, capability } = turn.work;
  const isCanceling = job.status === "canceling";
  const step = decideTurn({
    ...foundOf(turn.row),
    isCanceling,
    isHere: "local" in capability.execute,
    isTaken: turn.row.handle !== null,
    isKnownUnsent: isKnownUnsent(job.id),
  });
  switch (step.to) {
    case "stored":
      return storeSetAside(turn);
    case "answered":
      return endAnswered(turn);
    case "ended":
      return end(leased(turn), step.ending);
    case "here":
      return runLocally(turn);
    case "released":
      // The submission was begun here and could not be released while the database was out.
      forgetUnsent(job.id);
      return applyOutcome(turn, refusedUnsent);
  }
  const ready = await readyOrEnd(turn);
  if (!ready) return { state: "ended" };
  return step.to === "polled"
    ? applyOutcome(turn, await pollCall({ ...ready, ...callOf(turn) }, turn.row.handle))
    : begin({ ...turn, work: ready });
}

/**
 * Records a submission and sends it. If the rows have changed since they were read, another turn looks again.
 */
async function begin(turn: ReadyTurn): Promise<Next<JobEnd>> {
  const { ctx, work, row, lease } = turn;
  const { job } = work;
  const begun = await beginSubmission({
    jobId: job.id,
    fence: lease.fence,
    attemptId: row.id,
    owner: leaseOwner,
    tier: tierToAsk(job, row),
    now: ctx.now(),
  });
  if (!begun) return { state: "again", afterMs: LOOK_AGAIN_MS };
  const sent = { ...row, submission: "ambiguous", submission_begun_at: ctx.now() } as const;
  return submit({ ...turn, row: sent });
}

/** Sends a submission that is recorded as begun, and applies its outcome. */
export async function submit(turn: ReadyTurn): Promise<Next<JobEnd>> {
  failpoint("after-submission-begun");
  const row = { ...turn.row };
  const gate = async () => {
    const gate = await turn.lease.gate();
    if (gate === "open") row.submission_begun_at = turn.ctx.now();
    return gate;
  };
  return applyOutcome({ ...turn, row }, await send({ ...turn, row }, gate));
}

/** The work with its call. Null if the call can no longer be made; the job has then ended for that reason. */
async function readyOrEnd(turn: JobTurn): Promise<ReadyWork | null> {
  const { work, row } = turn;
  if (work.sync) return { ...work, ...work.sync.ready };
  try {
    return await makeReady(work, await readStageFiles(work));
  } catch (cause) {
    const fault = cause instanceof ValidationFault ? SOURCE_GONE : cause;
    if (!(fault instanceof Fault)) throw cause;
    // If the request may have been sent, the provider may still be working on it, so the job ends as lost.
    const { code, message } = fault;
    const { submission } = row;
    const kind = submission === "not_attempted" ? "content_gone" : "lost";
    await end(leased(turn), failed(kind, message, unseen(submission), { code }));
    return null;
  }
}

const SOURCE_GONE = new Fault(
  "PayloadUnavailable",
  "An input file of this job was removed. Upload it again and submit a new job.",
  {},
);

/** Runs work in this process: nothing is sent, and after a crash a durable job does the work again. */
export async function runLocally(
  turn: Omit<JobTurn, "row"> & { row: AttemptRow | null },
): Promise<Next<JobEnd>> {
  const { ctx, work, row, lease } = turn;
  try {
    const { ending, kept } = await runHere(ctx, work, lease.signal);
    return await end(leased({ ...turn, row }, { kept }), ending);
  } catch (cause) {
    if (!lease.signal.aborted || !row) throw cause;
    const why = lease.signal.reason as AbortReason; // a lease aborts with nothing else
    return applyOutcome({ ...turn, row }, { state: "aborted", submission: "not_attempted", why });
  }
}

/** Makes the one call of this attempt. Its text is streamed to a reader if one was requested. */
async function send(turn: ReadyTurn, gate: () => Promise<Gate>): Promise<CallOutcome> {
  const { ctx, work, lease } = turn;
  const call = { ...work, ...callOf(turn), gate };
  if (work.job.mode === STREAM && work.sync) {
    const frames = frameWriter(work.job, lease.fence, ctx.now);
    // Several choices have no single text, so they are shown only at their end.
    const isOne = ((work.call as Partial<TextCall>).settings?.choices ?? 1) === 1; // other ports have no settings
    const outcome = await (isOne ? streamCall(call, frames.push) : submitCall(call));
    await frames.flush(); // text that was shown is stored, whatever the outcome
    return outcome;
  }
  if (!work.hasReader) return submitCall(call);
  const reader = readerOf(work.job, lease.fence, ctx.now);
  const outcome = await streamCall(call, reader.push);
  await reader.settled();
  if (outcome.state !== "succeeded") return outcome;
  // The streamed text must equal the sealed text exactly.
  const { content } = outcome.typedOutput as { content?: unknown }; // admitted for plain text only
  if ((await reader.close(String(content))) !== "differs") return outcome;
  return unusable(DIFFERS, outcome.observed);
}

/** The mode of a synchronous execution whose text is streamed. */
export const STREAM = "invoke_stream";

const callOf = ({ ctx, work, row, lease }: JobTurn) => ({
  now: ctx.now,
  project: { id: work.job.project_id, environment: work.job.environment },
  estimate: work.stage?.estimate ?? work.job.pricing,
  executionSeconds: work.job.execution_seconds,
  executionId: work.job.id,
  attemptId: row.id,
  tier: tierToAsk(work.job, row),
  signal: lease.answerSignal,
  ...(work.sync ? { takesAsSaid: work.sync.takesAsSaid } : {}),
});

/** A durable job may send a refused call again within this time of the start of its attempt. */
const ADMISSION_DEADLINE_MS = 120_000;

/** Stores what follows from the outcome of a call. */
function applyOutcome(found: JobTurn, outcome: CallOutcome): Promise<Next<JobEnd>> {
  const isRefusal = outcome.state === "retryable" && outcome.reason === "capacity";
  const capacity_rejections = found.row.capacity_rejections + (isRefusal ? 1 : 0);
  const turn = { ...found, row: { ...found.row, capacity_rejections } };
  return apply(storeOf(turn), decide(factsOf(turn), outcome, backoffOf)).catch((cause) => {
    if (submissionOf(outcome) === "not_attempted" && isDatabaseOutage(cause))
      void correctUnsentJob(turn.ctx, unsentOf(turn)); // Not awaited, because the database is out.
    throw cause;
  });
}

function factsOf({ ctx, row, work: { job, sync } }: JobTurn): ExecutionFacts {
  const since = row.started_at;
  return {
    now: ctx.now(),
    waits: { since, until: sync?.waitsUntil ?? new Date(since.getTime() + ADMISSION_DEADLINE_MS) },
    limit: {
      of: "execution",
      message: `The provider did not answer within ${job.execution_seconds} seconds.${sync ? " Use a durable job for longer work." : ""}`,
    },
    isTaken: row.handle !== null,
    isAwaited: sync !== undefined,
    canFallBack: tierToAsk(job, row) !== "standard",
  };
}

/** The store of a claimed execution, under the lease of this turn. */
function storeOf(turn: JobTurn) {
  const { ctx, row, lease } = turn;
  const { job, sync, route, stage } = turn.work;
  const release = (waitMs: number) =>
    releaseSubmission({ ...under(turn, waitMs), capacityRejections: row.capacity_rejections });
  return {
    now: ctx.now,
    called: route && { route, account: accountOf(stage?.estimate ?? job.pricing) },
    ...leased(turn),
    answer: (answer: CallAnswer) => (sync ? keepAtEnd : keepAnswer)(turn, answer),
    release: (_: unknown, waitMs: number) => release(waitMs),
    keepHandle({ handle, pollAfterMs, progress }: CallPending) {
      const sentAt = row.submission_begun_at;
      const known = { handle, progress: progress ?? null, sentAt, now: ctx.now() };
      return keepHandle({ ...under(turn, pollAfterMs), ...known });
    },
    async requeue() {
      await release(0);
      await requeueJob(ctx, job.id, lease.fence);
      return { state: "ended" } as const;
    },
    correctUnsent: () => correctUnsentJob(ctx, unsentOf(turn)),
    // The refusal is recorded before the request goes out again, so that the next worker asks for standard,
    // too.
    async standard({ message, observed: { providerRequestId } }: CallFailed) {
      const now = ctx.now().toISOString();
      const submittedAt = row.submission_begun_at?.toISOString() ?? now;
      const refused = { tier: "flex", httpStatus: 400, message: message ?? "", providerRequestId } as const;
      const refusal = { ...refused, submittedAt, refusedAt: now };
      const isHeld = await fallBackToStandard({ ...under(turn, 0), refusal });
      failpoint("after-tier-refusal");
      return isHeld;
    },
  };
}

const unsentOf = ({ row, lease }: JobTurn) => ({ jobId: lease.id, fence: lease.fence, attemptId: row.id });

/** The submission state that a call's outcome leaves. */
const submissionOf = (outcome: CallOutcome) =>
  outcome.state === "aborted"
    ? outcome.submission
    : outcome.state === "pending"
      ? "attempted"
      : outcome.observed.submission;

/** The outcome of a request that was never sent, for a temporary reason. */
const refusedUnsent: CallOutcome = {
  state: "retryable",
  reason: "unreachable",
  retryAfterMs: null,
  message: "The database could not be reached before the request was sent.",
  observed: nothingSent,
  isInternal: true,
};

/** Conditions of a write to the attempt: its fence, and a lease that outlives the wait that follows. */
const under = ({ row, lease }: JobTurn, waitMs: number) => ({
  jobId: lease.id,
  fence: lease.fence,
  attemptId: row.id,
  leaseMs: Math.ceil(waitMs) + LEASE_MS,
});
