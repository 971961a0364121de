import type { Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { findWholeJob } from "./rows";
import type { Kind } from "./submission";
import { firstOfKey } from "./transitions/admission";
import { toJob } from "./view";

/** The job as it stands. NotFound where the caller may not see it. */
export async function get(ctx: Ctx, jobId: string, right: Scope = "jobs:read"): Promise<Job> {
  const { job, parts } = await findWholeJob(ctx, jobId, right);
  return toJob(job, parts, ctx.now());
}

/** The id of the job that was submitted under an idempotency key; null while there is none. */
export async function idOfKey(
  ctx: Ctx,
  projectId: string,
  { operation, key }: { operation: Kind; key: string },
): Promise<string | null> {
  const project = await access.authorize(ctx, "jobs:read", { projectInPath: projectId });
  const first = await firstOfKey({ projectId: project.id, operation, key });
  return first?.id ?? null;
}
