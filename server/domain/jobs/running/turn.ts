import {
  type AbortReason,
  type Answer,
  accountOf,
  apply,
  type CallOutcome,
  DIFFERS,
  type Driver,
  decideTurn,
  failed,
  forgetUnsent,
  type Gate,
  isKnownUnsent,
  LEASE_MS,
  leaseOwner,
  lostAfter,
  nothingSent,
  pollCall,
  streamCall,
  submitCall,
  unusable,
} from "@/server/domain/executions";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { failpoint } from "@/server/platform/settings/failpoint";
import type { TextCall } from "@/server/providers/define";
import { finishLeased } from "../ending/end";
import { foundOf, type Next, NOTHING, unseen } from "../ending/ending";
import { neverSent } from "../ending/never-sent";
import { frameWriter } from "../following/frames";
import { readerOf } from "../following/reader";
import { type AttemptRow, tierToAsk } from "../rows";
import { beginSubmission, fallBackToStandard, keepHandle, releaseSubmission } from "../transitions/attempt";
import { requeue } from "../transitions/moves";
import { endAnswered, keepAnswer, storeSetAside } from "./keep-answer";
import { toOutput } from "./output";
import { runHere } from "./run-here";
import { keptOf } from "./stages";
import { makeReady, type ReadyWork, type Turn } from "./work";

type ReadyTurn = Turn & { work: ReadyWork };

/** A turn that lost a race looks again after this long. */
const LOOK_AGAIN_MS = 100;

/** One turn of a claimed execution: its rows say whether to submit, to ask again, or to end what was answered. */
export async function advance(turn: Turn): Promise<Next> {
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
      return finishLeased(turn, step.ending, NOTHING, isCanceling ? ["canceling"] : undefined);
    case "here":
      return runLocally(turn);
    case "released":
      // It was begun here, and could not be taken back while the database was out.
      forgetUnsent(job.id);
      return settle(turn, refusedUnsent);
  }
  const ready = await readyOrEnd(turn);
  if (!ready) return { state: "ended" };
  return step.to === "polled"
    ? settle(turn, await pollCall({ ...ready, ...callOf(turn) }, turn.row.handle))
    : begin({ ...turn, work: ready });
}

/** Writes a submission down and sends it; another turn looks again if the rows have changed since. */
async function begin(turn: ReadyTurn): Promise<Next> {
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

/** Sends what is written down as begun, and has what follows from the outcome written down. */
export async function submit(turn: ReadyTurn): Promise<Next> {
  failpoint("after-submission-begun");
  const row = { ...turn.row };
  const gate = async () => {
    const gate = await turn.lease.gate();
    if (gate === "open") row.submission_begun_at = turn.ctx.now();
    return gate;
  };
  return settle({ ...turn, row }, await send({ ...turn, row }, gate));
}

/** The work with its call; null where it cannot be made any more, and then the job has ended with the reason. */
async function readyOrEnd(turn: Turn): Promise<ReadyWork | null> {
  const { work, row } = turn;
  if (work.sync) return { ...work, ...work.sync.ready };
  try {
    return await makeReady(work, await keptOf(work));
  } catch (cause) {
    const fault = cause instanceof ValidationFault ? SOURCE_GONE : cause;
    if (!(fault instanceof Fault)) throw cause;
    // Work that a provider has taken is not over because its files cannot be read here now.
    const { code, message } = fault;
    const { submission } = row;
    const kind = submission === "not_attempted" ? "content_gone" : "lost";
    await finishLeased(turn, failed(kind, message, unseen(submission), { code }));
    return null;
  }
}

const SOURCE_GONE = new Fault(
  "PayloadUnavailable",
  "An input file of this job was removed. Upload it again and submit a new job.",
  {},
);

/** Work done here: nothing is sent, and after a crash it is done again. */
export async function runLocally(turn: Omit<Turn, "row"> & { row: AttemptRow | null }): Promise<Next> {
  const { ctx, work, row, lease } = turn;
  try {
    const { ending, kept } = await runHere(ctx, work, lease.signal);
    return await finishLeased(turn, ending, kept);
  } catch (cause) {
    if (!lease.signal.aborted || !row) throw cause;
    const why = lease.signal.reason as AbortReason; // of a lease it is nothing else
    return settle({ ...turn, row }, { state: "aborted", submission: "not_attempted", why });
  }
}

/** Makes the one call of this attempt; its text is shown to a reader as it is written, where one was asked for. */
async function send(turn: ReadyTurn, gate: () => Promise<Gate>): Promise<CallOutcome> {
  const { ctx, work, lease } = turn;
  const call = { ...work, ...callOf(turn), gate };
  if (work.job.mode === STREAM && work.sync) {
    const frames = frameWriter(work.job, lease.fence, ctx.now);
    // Several answers at once have no one text; they are shown at their end.
    const isOne = ((work.call as Partial<TextCall>).settings?.choices ?? 1) === 1; // other ports have no settings
    const outcome = await (isOne ? streamCall(call, frames.push) : submitCall(call));
    await frames.flush(); // what was shown is kept, however it ends
    return outcome;
  }
  if (!work.hasReader) return submitCall(call);
  const reader = readerOf(work.job, lease.fence, ctx.now);
  const outcome = await streamCall(call, reader.push);
  await reader.settled();
  if (outcome.state !== "succeeded") return outcome;
  // The streamed text must be the sealed text, to the letter.
  const { content } = outcome.typedOutput as { content?: unknown }; // admitted for plain text only
  if ((await reader.close(String(content))) !== "differs") return outcome;
  return unusable(DIFFERS, outcome.observed);
}

/** The mode of a synchronous execution whose text is shown as it is written. */
export const STREAM = "invoke_stream";

const callOf = ({ ctx, work, row, lease }: Turn) => ({
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

/** A durable job sends a refused call again inside this time from its first submission. */
const ADMISSION_DEADLINE_MS = 120_000;

/** What follows from a call's outcome: its end, another submission, or a look at what the provider took on. */
function settle(found: Turn, outcome: CallOutcome): Promise<Next> {
  const { ctx } = found;
  const { job, sync, route, stage } = found.work;
  const isRefusal = outcome.state === "retryable" && outcome.reason === "capacity";
  const capacity_rejections = found.row.capacity_rejections + (isRefusal ? 1 : 0);
  const row = { ...found.row, capacity_rejections };
  const turn = { ...found, row };
  const since = row.started_at;
  const release = async (afterMs: number): Promise<Next> => {
    const isHeld = await releaseSubmission({
      ...under(turn, afterMs),
      capacityRejections: capacity_rejections,
    });
    return isHeld ? { state: "again", afterMs } : { state: "ended" };
  };
  const driver: Driver<Answer, Next> = {
    now: ctx.now,
    called: route && { route, account: accountOf(stage?.estimate ?? job.pricing) },
    facts: {
      waits: { since, until: sync?.waitsUntil ?? new Date(since.getTime() + ADMISSION_DEADLINE_MS) },
      limit: {
        of: "execution",
        message: `The provider did not answer within ${job.execution_seconds} seconds.${sync ? " Use a durable job for longer work." : ""}`,
      },
      isTaken: row.handle !== null,
      canFallBack: tierToAsk(job, row) !== "standard",
    },
    keep: (answer) => (sync?.keep ?? keepAnswer)(turn, answer),
    end(failure) {
      const isCancel = failure.kind === "canceled" || failure.kind === "canceled_unsent";
      const { partial } = failure;
      const kept = partial ? { output: toOutput(job, partial, [], ctx.now()), artifacts: [] } : NOTHING;
      return finishLeased(turn, failure, kept, isCancel ? ["canceling"] : undefined);
    },
    release: (_, waitMs) => release(waitMs),
    async taken({ handle, pollAfterMs: afterMs, progress = null }) {
      const sentAt = row.submission_begun_at;
      await keepHandle({ ...under(turn, afterMs), handle, progress, sentAt, now: ctx.now() });
      if (!sync) return { state: "pending", afterMs };
      // Its cost can be found out by its handle.
      const message =
        "The provider accepted the work and will answer later. Use a durable job for this model.";
      return finishLeased(turn, failed("lost", message, lostAfter(nothingSent)));
    },
    async putBack() {
      if (sync) {
        const message = "The process that ran this stopped.";
        return finishLeased(turn, failed("stopped_unsent", message, nothingSent));
      }
      await release(0);
      await requeue(ctx, job.id, turn.lease.fence);
      return { state: "ended" };
    },
    leave: () => ({ state: "ended" }),
    async leaveUnsent() {
      await neverSent(ctx, unsentOf(turn));
      return { state: "ended", isUnsent: true };
    },
    // The refusal is written down before the request goes out again: the next worker asks for standard, too.
    async fallBack({ message, observed: { providerRequestId } }) {
      const now = ctx.now().toISOString();
      const submittedAt = row.submission_begun_at?.toISOString() ?? now;
      const refused = { tier: "flex", httpStatus: 400, message: message ?? "", providerRequestId } as const;
      const left = await fallBackToStandard({
        ...under(turn, 0),
        refusal: { ...refused, submittedAt, refusedAt: now },
      });
      failpoint("after-tier-refusal");
      return left ? { state: "again", afterMs: 0 } : { state: "ended" };
    },
  };
  return apply(driver, outcome).catch((cause) => {
    if (submissionOf(outcome) === "not_attempted" && isDatabaseOutage(cause))
      void neverSent(ctx, unsentOf(turn)); // Not waited for: the database is out.
    throw cause;
  });
}

const unsentOf = ({ row, lease }: Turn) => ({ jobId: lease.id, fence: lease.fence, attemptId: row.id });

/** What became of a request, as far as it may have left. */
const submissionOf = (outcome: CallOutcome) =>
  outcome.state === "aborted"
    ? outcome.submission
    : outcome.state === "pending"
      ? "attempted"
      : outcome.observed.submission;

/** Of a request that never left, for a reason that passes. */
const refusedUnsent: CallOutcome = {
  state: "retryable",
  reason: "unreachable",
  retryAfterMs: null,
  message: "The database could not be reached before the request was sent.",
  observed: nothingSent,
  isInternal: true,
};

/** What a move of the attempt is written under: its fence, and a lease that outlives the wait that follows. */
const under = ({ row, lease }: Turn, waitMs: number) => ({
  jobId: lease.id,
  fence: lease.fence,
  attemptId: row.id,
  leaseMs: Math.ceil(waitMs) + LEASE_MS,
});
