import { CapabilityFault } from "@/server/capabilities/define";
import {
  type CallAnswer,
  type Content,
  decideUnstored,
  type Ending,
  end,
  failUnknown,
  LEASE_MS,
  type Next,
  resultOf,
} from "@/server/domain/executions";
import { jittered } from "@/server/platform/durable/retry";
import { isErrorCode } from "@/server/platform/errors/errors";
import { isOutage } from "@/server/platform/errors/outage";
import { log } from "@/server/platform/log/log";
import { failpoint } from "@/server/platform/settings/failpoint";
import { settleLateAnswer } from "../ending/after-end";
import { type JobEnd, leased } from "../ending/end";
import { endingOf, type Kept, NOTHING, toAnswer } from "../ending/ending";
import { type ArtifactRow, artifactsOf, lastAttemptOf, UNPROCESSED } from "../rows";
import { type StoredAnswer, storeAnswer } from "../transitions/answer";
import { holdOn } from "../transitions/set-aside";
import { readUnprocessedFiles, storeFiles, toOutput } from "./output";
import { type Aside, findSetAside, forgetSetAside, keepAside } from "./set-aside";
import { storeStageFiles } from "./stages";
import type { JobTurn, LoadedWork } from "./work";

/** Waits between attempts to store an answer; together they outlast a restart of the database. */
const STORE_WAITS_MS = [100, 900, 4_000];
/**
 * Waits between attempts to process an answer's files; they are few, because a permanent failure is the same
 * each time.
 */
const REFINE_WAITS_MS = [100, 900];

/**
 * Stores a provider's answer: content first, then the answer's row, then the end. Paid work is never
 * discarded.
 */
export const keepAnswer = (turn: JobTurn, answer: CallAnswer) =>
  storeAndEnd(turn, resultOf(answer), answer, STORE_WAITS_MS);

/**
 * Stores the answer of a synchronous execution and its end in one statement. If our storage fails, the answer
 * is kept like a durable job's, because paid work is never discarded. Another process continues if this one
 * cannot store the answer either way.
 */
export async function keepAtEnd(turn: JobTurn, answer: CallAnswer): Promise<Next<JobEnd>> {
  const { ctx, work } = turn;
  failpoint("after-answer");
  const now = ctx.now();
  try {
    const artifacts = await storeFiles(work.job, answer.files, now);
    const fresh = { output: toOutput(work.job, answer.typedOutput, artifacts, now), artifacts };
    return await end(leased(turn, { kept: fresh }), resultOf(answer));
  } catch (cause) {
    log.error({ err: cause, jobId: work.job.id }, "the answer of an execution could not be stored");
    const next = await keepAnswer(turn, answer);
    return next.state === "ended" ? { state: "ended" } : unrecorded(work.job.id);
  }
}

export const unrecorded = (executionId: string): never =>
  failUnknown(executionId, "The request was sent to the provider, and its result could not be recorded yet.");

/**
 * Repeats the step that kept failing, with the answer that was set aside, because its wait has ended or an
 * operator requested it.
 */
export async function storeSetAside(turn: JobTurn): Promise<Next<JobEnd>> {
  const { ctx, work, row, lease } = turn;
  const content = await findSetAside(work.job.id);
  const { isSetAside: _, ...ending } = endingOf(row);
  if (!content) {
    const held = { job: work.job, attemptId: row.id, fence: lease.fence };
    await keepAside(ctx, held, ending, { step: "store_output", content: null });
    return { state: "ended" };
  }
  return storeAndEnd(turn, ending, content, []);
}

async function storeAndEnd(
  turn: JobTurn,
  answered: Ending,
  content: Content,
  waitsMs: readonly number[],
): Promise<Next<JobEnd>> {
  const { ctx, work, row, lease } = turn;
  const isWhole = refinementOf(work) === null;
  const ending: Ending = isWhole ? answered : { ...answered, unprocessed: true };
  let written: StoredAnswer | null = null;
  for (let tried = 1; ; tried++) {
    try {
      const now = ctx.now();
      const files = isWhole
        ? content.files
        : content.files.map((file) => ({ ...file, slotStatus: UNPROCESSED }));
      const artifacts = await storeFiles(work.job, files, now);
      const output =
        isWhole && !work.stage
          ? toOutput(work.job, content.typedOutput, [...(await filesBefore(work)), ...artifacts], now)
          : null;
      const answer = toAnswer(row.id, { ending, output, artifacts }, now, row.submission_begun_at);
      if (!(await storeAnswer({ jobId: work.job.id, fence: lease.fence, now, ...answer }))) {
        await settleLateAnswer(work.job, row, answered, now);
        return { state: "ended" };
      }
      written = answer;
      break;
    } catch (cause) {
      log.error({ err: cause, jobId: work.job.id, tried }, "the answer of a provider could not be stored");
      // The answer may have been stored although the database's confirmation was lost.
      const known = await lastAttemptOf(work.job).catch(() => null);
      if (known?.answer && !known.answer.isSetAside) break;
      const isKept = row.answer?.isSetAside === true;
      const next = await afterFailure(turn, cause, {
        ...{ tried, waitsMs },
        ending: answered,
        kept: NOTHING,
        aside: { step: "store_output", content: isKept ? null : content },
      });
      if (next) return next;
    }
  }
  if (row.answer?.isSetAside) await forgetSetAside(work.job.id);
  failpoint("after-answer");
  if (written?.attempt) {
    const kept = { artifacts: written.artifacts, outputHash: written.output?.sha256 ?? null };
    return endAnswered({ ...turn, row: { ...row, ...written.attempt } }, kept);
  }
  const stored = await lastAttemptOf(work.job);
  if (!stored) throw new Error("the attempt that was just answered does not exist");
  return endAnswered({ ...turn, row: stored });
}

/**
 * Handles a step that failed because of our own storage. Returns null, after a pause, if the caller is to repeat the
 * step; otherwise the next turn repeats it, or an operator decides. If a cancel arrived in the meantime, the job
 * ends as canceled, and the cost of the provider's work stays.
 */
async function afterFailure(
  turn: JobTurn,
  cause: unknown,
  to: {
    tried: number;
    waitsMs: readonly number[];
    /** The ending that is written if the job was canceled. */
    ending: Ending;
    kept: Kept | null;
    aside: Aside;
  },
): Promise<Next<JobEnd> | null> {
  const { ctx, row, lease } = turn;
  const { job } = turn.work;
  const held = { job, attemptId: row.id, fence: lease.fence };
  const lastedMs = row.answered_at ? ctx.now().getTime() - row.answered_at.getTime() : 0;
  const decided = decideUnstored(to.tried, to.waitsMs, isOutage(cause) ? lastedMs : null);
  if (decided.to === "again") {
    await new Promise((resolve) => setTimeout(resolve, decided.afterMs));
    return null;
  }
  if (decided.to === "waiting") {
    const afterMs = jittered(decided.afterMs);
    // The lease must outlive the wait.
    const leaseMs = Math.round(afterMs) + LEASE_MS;
    const isWaiting = to.aside.content
      ? await keepAside(ctx, held, to.ending, { ...to.aside, leaseMs })
      : await holdOn({ jobId: job.id, fence: lease.fence, leaseMs });
    if (isWaiting) return { state: "again", afterMs };
  }
  if (!(await keepAside(ctx, held, to.ending, to.aside)))
    await end(leased(turn, { kept: to.kept, from: ["canceling"] }), to.ending);
  return { state: "ended" };
}

/** The next turn starts at once. */
const AGAIN: Next<JobEnd> = { state: "again", afterMs: 0 };

/** The files of the earlier stages, which are part of the job's output. */
const filesBefore = async ({ job, stages }: LoadedWork): Promise<ArtifactRow[]> =>
  stages ? artifactsOf(job) : [];

/** The processing that the files of an answer need here; null if they need none. */
function refinementOf({ capability, input, route }: LoadedWork) {
  const execution = capability.execute;
  if ("local" in execution || !route) return null;
  return execution.refine?.(input, route.model) ?? null;
}

/**
 * Ends a job whose answer is stored, after processing its files if they still need it. Without `kept`, the
 * content is read from the rows.
 */
export async function endAnswered(turn: JobTurn, kept: Kept | null = null): Promise<Next<JobEnd>> {
  const { ctx, work, row } = turn;
  const answered = endingOf(row);
  const refine = refinementOf(work);
  if (work.stage && work.job.status === "running" && !answered.unprocessed) return AGAIN;
  // No one waits for the files of a canceled job, so they stay unprocessed.
  if (!answered.unprocessed || !refine || work.job.status === "canceling")
    return end(leased(turn, { kept }), answered);
  const { unprocessed: _done, ...ending } = answered;
  for (let tried = 1; ; tried++) {
    try {
      const { typedOutput, files, media } = await refine(await readUnprocessedFiles(work.job));
      const now = ctx.now();
      const artifacts = await storeFiles(work.job, files, now);
      if (work.stage) {
        await storeStageFiles(turn, ending, artifacts);
        return AGAIN;
      }
      const fresh = { output: toOutput(work.job, typedOutput, artifacts, now), artifacts };
      return await end(leased(turn, { kept: fresh }), { ...ending, ...(media ? { media } : {}) });
    } catch (cause) {
      if (cause instanceof CapabilityFault && isErrorCode(cause.code)) {
        const { code, message } = cause;
        return end(leased(turn, { kept }), { ...ending, state: "failed", code, message });
      }
      log.error({ err: cause, jobId: work.job.id, tried }, "the files of an answer could not be processed");
      const next = await afterFailure(turn, cause, {
        ...{ tried, waitsMs: REFINE_WAITS_MS },
        ending: answered,
        kept,
        aside: { step: "process_output", content: null },
      });
      if (next) return next;
    }
  }
}
