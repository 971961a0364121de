import type { OutputFile } from "@/server/capabilities/define";
import { readWhole } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import type { Ending } from "@/server/domain/executions";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { failpoint } from "@/server/platform/settings/failpoint";
import { plainJson } from "@/server/platform/text/json";
import { pauseForApproval } from "../decisions/approvals";
import { toStored } from "../ending/ending";
import {
  type ArtifactRow,
  type AttemptRow,
  artifactsOf,
  type JobRow,
  listAttempts,
  UNPROCESSED,
} from "../rows";
import { type AnswerArtifact, keepStageFiles } from "../transitions/answer";
import { openAttempt } from "../transitions/attempt";
import { storedEvents } from "./output";
import {
  type JobStage,
  type JobTurn,
  type LoadedWork,
  loadWork,
  makeReady,
  type ReadyWork,
  readJob,
} from "./work";

/*
 * An execution of several calls. Its rows alone record its progress: every call is an attempt, in the order
 * of their numbers, and the next one is opened when the answer of the previous one is stored and processed.
 */

/** The call to work on; `waiting` if the job waits for a person; `lost` if another worker has the job. */
export type NextCall = { work: LoadedWork; row: AttemptRow } | "waiting" | "lost";

/** The stage of an attempt; undefined for the main call. */
const stageOf = (work: LoadedWork, row: Pick<AttemptRow, "stage">): JobStage | undefined =>
  work.stages?.find(({ stage }) => stage.name === row.stage);

/** The same job seen from one of its calls, with the capability, route and price of its stage. */
export function stageWork(work: LoadedWork, row: Pick<AttemptRow, "stage">): LoadedWork {
  const stage = stageOf(work, row);
  return stage ? { ...work, capability: stage.capability, route: stage.route, stage } : work;
}

/** True if the answer of this call is stored and its files are processed. */
const isDone = ({ answer }: AttemptRow) => answer !== null && !answer.unprocessed && !answer.isSetAside;

/**
 * The current call of a claimed job with stages: the one that is not done, or the next one, which is opened
 * now. Calls that are done are never opened again, whichever process died before.
 */
export async function findPlace(ctx: Ctx, work: LoadedWork, fence: number): Promise<NextCall> {
  const { job, stages = [] } = work;
  const attempts = await listAttempts(job);
  const last = attempts.at(-1);
  if (!last) throw new Error(`job ${job.id} is claimed and has no attempt`);
  // The attempt is as the claim created it, not yet assigned to a call.
  const isBlank = last.number === 1 && last.stage === null && last.submission === "not_attempted";
  const isOpen = !isBlank && (last.stage === null || !isDone(last));
  if (isOpen || job.status !== "running") return { work: stageWork(work, last), row: last };
  const kept = isBlank ? [] : await readStageFiles(work);
  const done = isBlank ? -1 : stages.findIndex(({ stage }) => stage.name === last.stage);
  const next = stages.slice(done + 1).find(({ stage }) => stage.isNeeded?.(work.input, kept) ?? true);
  if (!next && !(await isReviewed(ctx, work, fence))) return "waiting";
  const { provider, model } = next?.estimate.route ?? job;
  const isOpened = await openAttempt({
    jobId: job.id,
    projectId: job.project_id,
    fence,
    attemptId: isBlank ? last.id : newId("attempt"),
    number: isBlank ? 1 : last.number + 1,
    stage: next?.stage.name ?? null,
    provider,
    model,
    now: ctx.now(),
  });
  if (!isOpened) return "lost";
  failpoint("after-attempt-opened");
  const row = (await listAttempts(job)).at(-1);
  return row ? { work: stageWork(work, row), row } : "lost";
}

/**
 * True if the main call may be made. If a person must review the stages first and has not, the job starts to
 * wait for that review.
 */
async function isReviewed(ctx: Ctx, { job, capability, input }: LoadedWork, fence: number): Promise<boolean> {
  const { execute } = capability;
  const review = "local" in execute ? null : execute.review?.(input);
  if (!review) return true;
  const { approval } = job;
  if (approval?.step === review.step && approval.decision?.decision === "approved") return true;
  const views = (await artifactsOf(job)).map((row) => ({
    artifactId: row.artifact_id,
    kind: row.kind,
    label: row.label,
    slotStatus: row.slot_status,
    mediaType: row.media_type,
    downloadPath: `/v1/jobs/${job.id}/artifacts/${row.artifact_id}`,
  }));
  await pauseForApproval(ctx, { jobId: job.id, fence }, { ...review, shown: { artifacts: views } });
  return false;
}

/** The files that the stages of a job have finished so far, with their bytes. */
export async function readStageFiles({ job, stages }: LoadedWork): Promise<OutputFile[]> {
  if (!stages) return [];
  const rows = (await artifactsOf(job)).filter((row) => row.slot_status !== UNPROCESSED);
  return Promise.all(rows.map(toFile));
}

async function toFile(row: ArtifactRow): Promise<OutputFile> {
  return {
    bytes: await readWhole(row.sha256),
    mediaType: row.media_type,
    kind: row.kind,
    filename: row.filename ?? row.artifact_id,
    ...(row.label === null ? {} : { label: row.label }),
    ...(row.slot_status === null ? {} : { slotStatus: row.slot_status }),
    ...(row.slice_cell_id === null ? {} : { sliceCellId: row.slice_cell_id }),
  };
}

/**
 * Replaces a stage's unprocessed files by those that were made here from them, which completes the stage.
 * False if the lease is lost or another worker did so first.
 */
export async function storeStageFiles(
  { ctx, work, row, lease: { fence } }: JobTurn,
  ending: Ending,
  artifacts: AnswerArtifact[],
): Promise<boolean> {
  const job = await readJob(work.job.id);
  if (!job) return false;
  const isKept = await keepStageFiles({
    jobId: job.id,
    fence,
    seenEvent: job.last_event,
    attemptId: row.id,
    answer: plainJson(toStored(ending)),
    artifacts,
    unprocessed: UNPROCESSED,
    events: storedEvents(artifacts),
    now: ctx.now(),
  });
  if (isKept) failpoint("after-stage-kept");
  return isKept;
}

/**
 * Makes the call of an attempt again, as it was sent; null if its request was removed or the call can no
 * longer be made.
 */
export async function readyAgain(job: JobRow, row: AttemptRow): Promise<ReadyWork | null> {
  const loaded = (await loadWork(job.id))?.work;
  if (!loaded) return null;
  const work = stageWork(loaded, row);
  return makeReady(work, await readStageFiles(work)).catch((cause) => {
    if (cause instanceof Fault || cause instanceof ValidationFault) return null;
    throw cause;
  });
}
