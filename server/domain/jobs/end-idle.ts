import type { Ctx } from "@/server/domain/ctx";
import { conclude } from "./conclude";
import { type Ended, endedBefore, endedWithout } from "./ended";
import { type AttemptRow, artifactsOf, type JobRow, payloadsOf } from "./rows";
import type { NewEvent } from "./transitions/moves";
import { storedInputHash } from "./work";

/**
 * Ends a job that nobody works on: in a queue, before a person, or left by its worker. What the provider did before is
 * settled as its answer told; what may have run without an answer stays ambiguous. False: something happened to the job
 * since it was read; nothing was written.
 */
export async function endIdle(
  ctx: Ctx,
  job: JobRow,
  attempt: AttemptRow | null,
  end: {
    to: "failed" | "canceled";
    code: string | null;
    message: string | null;
    before?: NewEvent[];
  },
): Promise<boolean> {
  const [inputHash, artifacts, payloads] = await Promise.all([
    storedInputHash(job.id),
    attempt?.answer ? artifactsOf(job) : [],
    attempt?.answer ? payloadsOf(job) : [],
  ]);
  return conclude({
    job,
    inputHash,
    outputHash: payloads.find((payload) => payload.kind === "output")?.sha256 ?? null,
    engine: null,
    attempt,
    artifacts,
    ended: endedAsFound(attempt, end),
    from: [job.status],
    fence: job.fence,
    asRead: true,
    canceled: end.to === "canceled",
    ...(end.before ? { before: end.before } : {}),
    now: ctx.now(),
  });
}

function endedAsFound(
  attempt: AttemptRow | null,
  { code, message }: { code: string | null; message: string | null },
): Ended {
  const submission = attempt?.submission ?? "not_attempted";
  if (attempt?.answer) {
    const before = endedBefore(attempt);
    return { ...before, outcome: { ...before.outcome, outcome: "failed", code, message } };
  }
  return endedWithout(submission === "not_attempted" ? "stopped_unsent" : "lost", message, {
    code,
    submission,
  });
}
