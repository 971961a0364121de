import type { JobRights } from "@/server/contract/jobs";
import { access, isOperator } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { Fault } from "@/server/errors";
import { requireDecider } from "./approvals";
import { requireFeature } from "./plan-features";
import { attemptOf, findJob, isNewKeySafe } from "./rows";
import { sourcesOf } from "./transitions";

/** What the caller may do with a job as it stands, by the very checks that the verbs make. */
export async function rights(ctx: Ctx, jobId: string): Promise<JobRights> {
  const job = await findJob(ctx, jobId);
  const isWaiting = job.status === "awaiting_approval";
  const canStop = sourcesOf("canceled").includes(job.status) || job.status === "running";
  const [cancel, approve, reject, retry] = await Promise.all([
    canStop && job.status !== "canceling"
      ? refusalOf(async () =>
          requireFeature(await access.project(ctx, job.project_id, "jobs:write"), "cancel"),
        )
      : "",
    isWaiting ? refusalOf(() => requireDecider(ctx, job, "approve")) : "",
    isWaiting ? refusalOf(() => requireDecider(ctx, job, "reject")) : "",
    job.operation === "jobs" && isNewKeySafe(job, await attemptOf(job))
      ? refusalOf(() => access.project(ctx, job.project_id, "capabilities:run"))
      : "",
  ]);
  return {
    cancel: cancel === null,
    approve: approve === null,
    reject: reject === null,
    retry: retry === null,
    operate: job.status === "needs_attention" && isOperator(ctx),
    whyNotDecide: isWaiting ? (approve ?? reject) : null,
  };
}

/** Null: allowed. */
async function refusalOf(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (cause) {
    if (cause instanceof Fault) return cause.message;
    throw cause;
  }
}
