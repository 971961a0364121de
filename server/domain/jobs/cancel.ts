import type { Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
import { conclude, endedWithout } from "./conclude";
import { get } from "./get";
import { attemptOf, findJob } from "./rows";
import { transition } from "./transitions";
import { storedInputHash } from "./work";

/**
 * Cancels a job: at once while nothing runs; running work is told to stop and the job is `canceling` until it has.
 * Canceling a canceled job answers with it; any other ended job is JobNotCancelable.
 */
export async function cancel(ctx: Ctx, jobId: string): Promise<Job> {
  const job = await findJob(ctx, jobId, "jobs:write");
  await access.project(ctx, job.project_id, "jobs:write");
  const now = ctx.now();
  if (job.status === "queued" || job.status === "awaiting_approval" || job.status === "needs_attention") {
    const attempt = await attemptOf(job);
    const submission = attempt?.submission ?? "not_attempted";
    const ended = endedWithout(
      { code: null, message: null, settlement: submission === "not_attempted" ? "released" : "ambiguous" },
      submission,
    );
    await conclude({
      job,
      inputHash: await storedInputHash(job.id),
      outputHash: null,
      engine: null,
      attempt,
      artifacts: [],
      ended,
      from: [job.status],
      fence: null,
      canceled: true,
      now,
    });
  }
  if (job.status === "running") {
    await transition({
      jobId: job.id,
      from: ["running"],
      to: "canceling",
      now,
      event: { type: "job.cancel_requested", payload: { by: ctx.principal.kind } },
    });
  }
  const after = await get(ctx, jobId, "jobs:write");
  if (after.status === "succeeded" || after.status === "failed") {
    fail("JobNotCancelable", `The job has already ${after.status}.`, { status: after.status });
  }
  // Between the read and the move a worker may have claimed the job: then it is running now and is asked to stop.
  return after.status === "running" || after.status === "queued" ? cancel(ctx, jobId) : after;
}
