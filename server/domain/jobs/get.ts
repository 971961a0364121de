import type { Job } from "@/server/contract/jobs";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { findWholeJob } from "./rows";
import { toJob } from "./view";

/** The job as it stands. NotFound where the caller may not see it. */
export async function get(ctx: Ctx, jobId: string, right: Scope = "jobs:read"): Promise<Job> {
  const { job, parts } = await findWholeJob(ctx, jobId, right);
  return toJob(job, parts, ctx.now());
}
