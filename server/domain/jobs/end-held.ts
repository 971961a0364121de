import type { Ctx } from "@/server/domain/ctx";
import type { Lease } from "@/server/domain/executions";
import { conclude } from "./conclude";
import { type Ended, endedWithout, type Kept } from "./ended";
import { type AttemptRow, artifactsOf, type JobRow, payloadsOf } from "./rows";
import { type LoadedWork, readJob, storedInputHash } from "./work";

/** What a turn of a job came to, for the worker that holds it. */
export type StepResult =
  | { state: "ended" }
  | { state: "again"; afterMs: number }
  | { state: "pending"; afterMs: number };

/** Ends a job that this worker holds, with what its call came to. */
export async function end(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
  ended: Ended,
  from: ("running" | "canceling")[] = ["running", "canceling"],
): Promise<StepResult> {
  const kept = ended.fresh === null ? (ended.kept ?? (await readKept(work.job))) : NOTHING;
  const conclusion = {
    job: work.job,
    inputHash: work.inputHash,
    outputHash: kept.outputHash,
    engine: "local" in work.capability.execute ? work.capability.execute.engine : null,
    attempt: row,
    artifacts: kept.artifacts,
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

const NOTHING: Kept = { artifacts: [], outputHash: null };

async function readKept(job: JobRow): Promise<Kept> {
  const [artifacts, payloads] = await Promise.all([artifactsOf(job), payloadsOf(job)]);
  return { artifacts, outputHash: payloads.find(({ kind }) => kind === "output")?.sha256 ?? null };
}

/** Ends a job that is to be canceled: what may have left stays ambiguous. */
export async function cancelNow(
  ctx: Ctx,
  work: LoadedWork,
  row: AttemptRow,
  lease: Lease,
): Promise<StepResult> {
  const { submission } = row;
  const kind = submission === "not_attempted" ? "canceled_unsent" : "canceled";
  const ended = endedWithout(kind, null, { submission });
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

/** Ends a job of which nothing but its row can be read any more. */
export async function endWithout(
  ctx: Ctx,
  jobId: string,
  row: AttemptRow,
  lease: Lease,
  message: string,
): Promise<StepResult> {
  const job = await readJob(jobId);
  if (!job) return { state: "ended" };
  const { submission } = row;
  await conclude({
    job,
    inputHash: await storedInputHash(jobId),
    outputHash: null,
    engine: null,
    attempt: row,
    artifacts: [],
    ended: endedWithout(submission === "not_attempted" ? "stopped_unsent" : "lost", message, {
      code: "InternalFailure",
      submission,
    }),
    from: ["running"],
    fence: lease.fence,
    canceled: false,
    now: ctx.now(),
  });
  return { state: "ended" };
}
