import type { AuditRow } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import type { Lease } from "@/server/domain/executions";
import { conclude } from "./conclude";
import { type Ended, endedBefore, endedWithout, type Kept } from "./ended";
import { type AttemptRow, artifactsOf, type JobRow, payloadsOf } from "./rows";
import type { NewEvent } from "./transitions/moves";
import { type LoadedWork, storedInputHash } from "./work";

/** The result of one turn of an execution, for the worker that holds it. */
export type Next =
  /** With the end that was written, and whether a cancel had the last word; without one, somebody else ended it or will. */
  | { state: "ended"; ended?: Ended; isCanceled?: boolean }
  | { state: "again"; afterMs: number }
  | { state: "pending"; afterMs: number };

/** What an end needs of its execution. `capability` is absent where the request can no longer be read. */
export type Ending = Pick<LoadedWork, "job"> &
  Partial<Pick<LoadedWork, "capability">> & { inputHash: string | null };

/** Ends an execution that this worker holds, with what its call came to. */
export async function finishLeased(
  ctx: Ctx,
  { job, inputHash, capability }: Ending,
  row: AttemptRow | null,
  { fence }: Pick<Lease, "fence">,
  ended: Ended,
  from: ("running" | "canceling")[] = ["running", "canceling"],
): Promise<Next> {
  const kept = ended.fresh === null ? (ended.kept ?? (await readKept(job))) : NOTHING;
  const execute = capability?.execute;
  const engine = execute && "local" in execute ? execute.engine : null;
  const now = ctx.now();
  // A cancel that came meanwhile has the last word; the cost stays.
  for (const status of from) {
    const isCanceled = status === "canceling";
    const conclusion = { job, inputHash, engine, attempt: row, ...kept, ended, fence, now };
    if (await conclude({ ...conclusion, from: [status], canceled: isCanceled }))
      return { state: "ended", ended, isCanceled };
  }
  return { state: "ended" };
}

const NOTHING: Kept = { artifacts: [], outputHash: null };

async function readKept(job: JobRow): Promise<Kept> {
  const [artifacts, payloads] = await Promise.all([artifactsOf(job), payloadsOf(job)]);
  return { artifacts, outputHash: payloads.find(({ kind }) => kind === "output")?.sha256 ?? null };
}

/** Ends an execution that is to be canceled: what may have left stays ambiguous. */
export function cancelNow(ctx: Ctx, work: LoadedWork, row: AttemptRow, lease: Lease): Promise<Next> {
  const { submission } = row;
  const kind = submission === "not_attempted" ? "canceled_unsent" : "canceled";
  return finishLeased(ctx, work, row, lease, endedWithout(kind, null, { submission }), ["canceling"]);
}

/** How an execution that no worker holds ends. */
export type UnleasedEnd = {
  to: "failed" | "canceled";
  code: string | null;
  message: string | null;
  before?: NewEvent[];
  /** The decision that ends it. */
  audit?: AuditRow[];
};

/**
 * Ends an execution that no worker holds: in a queue, before a person, or left by its worker. What the provider did before
 * is settled as it answered; what may have run without an answer stays ambiguous. False: something happened to the job
 * since it was read; nothing was written.
 */
export async function finishUnleased(
  ctx: Ctx,
  job: JobRow,
  attempt: AttemptRow | null,
  end: UnleasedEnd,
): Promise<boolean> {
  const [inputHash, kept] = await Promise.all([
    storedInputHash(job.id),
    attempt?.answer ? readKept(job) : NOTHING,
  ]);
  return conclude({
    job,
    inputHash,
    engine: null,
    attempt,
    ...kept,
    ended: endedAsFound(attempt, end),
    from: [job.status],
    fence: job.fence,
    asRead: true,
    canceled: end.to === "canceled",
    ...(end.before ? { before: end.before } : {}),
    ...(end.audit ? { audit: end.audit } : {}),
    now: ctx.now(),
  });
}

/** The end of what is found: charged as it was answered, else by whether its request may have left. */
export function endedAsFound(
  attempt: AttemptRow | null,
  { code, message }: Pick<UnleasedEnd, "code" | "message">,
): Ended {
  const submission = attempt?.submission ?? "not_attempted";
  if (attempt?.answer) {
    const before = endedBefore(attempt);
    return { ...before, outcome: { ...before.outcome, outcome: "failed", code, message } };
  }
  const kind = submission === "not_attempted" ? "stopped_unsent" : "lost";
  return endedWithout(kind, message, { code, submission });
}
