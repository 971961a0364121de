import type { Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { CANCELED, end } from "@/server/domain/executions";
import { requireFeature } from "@/server/domain/plans";
import { fail } from "@/server/platform/errors/errors";
import { get } from "../reading/get";
import { findJob, lastAttemptOf } from "../rows";
import { transition } from "../transitions/moves";
import { unleased } from "./end";
import { foundEnding } from "./ending";

/**
 * Cancels a job. A job that is not running is canceled at once; a running one becomes `canceling` until its
 * worker stops. Works in an archived project too, because it only stops work. Canceling a canceled job
 * returns that job; a succeeded or failed one throws JobNotCancelable.
 */
export async function cancel(ctx: Ctx, jobId: string): Promise<Job> {
  const job = await findJob(ctx, jobId, "jobs:write");
  requireFeature(await access.authorize(ctx, "jobs:cancel", { projectId: job.project_id }), "cancel");
  const now = ctx.now();
  if (job.status === "queued" || job.status === "awaiting_approval" || job.status === "needs_attention") {
    const attempt = await lastAttemptOf(job);
    await end(unleased(ctx, job, attempt, { isCanceled: true }), foundEnding(attempt, CANCELED));
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
    fail("JobNotCancelable", `The job can no longer be canceled: its status is ${after.status}.`, {
      status: after.status,
    });
  }
  // If a worker or a person moved the job between the read and the write, the cancel starts again from its
  // new status.
  return after.status === "canceled" || after.status === "canceling" ? after : cancel(ctx, jobId);
}
