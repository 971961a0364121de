import type { Job } from "@/server/contract/jobs";
import type { Ctx } from "@/server/domain/ctx";
import { artifactsOf, attemptOf, findJob, payloadsOf, toJob } from "./rows";

/** The job as it stands. NotFound where the caller may not see it. */
export async function get(ctx: Ctx, jobId: string): Promise<Job> {
  const job = await findJob(ctx, jobId);
  const [attempt, artifacts, payloads] = await Promise.all([
    attemptOf(job),
    job.artifact_count > 0 ? artifactsOf(job) : [],
    payloadsOf(job),
  ]);
  return toJob(job, { attempt, artifacts, payloads }, ctx.now());
}
