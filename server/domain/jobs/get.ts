import type { Job } from "@/server/contract/jobs";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { artifactsOf, attemptOf, findJob, payloadsOf, sealedReceiptOf, toJob } from "./rows";

/** The job as it stands. NotFound where the caller may not see it. */
export async function get(ctx: Ctx, jobId: string, right: Scope = "jobs:read"): Promise<Job> {
  const job = await findJob(ctx, jobId, right);
  const [attempt, artifacts, payloads, sealed] = await Promise.all([
    attemptOf(job),
    job.artifact_count > 0 ? artifactsOf(job) : [],
    payloadsOf(job),
    job.receipt_id ? sealedReceiptOf(job) : null,
  ]);
  return toJob(job, { attempt, artifacts, payloads, sealed }, ctx.now());
}
