import type { JobRights } from "@/server/contract/jobs";
import { access, isOperator } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { requireFeature } from "@/server/domain/plans";
import { Fault } from "@/server/platform/errors/errors";
import { requireRetryable } from "../admission/retry";
import { findJob, type JobRow, lastAttemptOf } from "../rows";
import { sourcesOf } from "../transitions/moves";
import { requireDecider } from "./approvals";

/** The caller's rights on a job in its present state, from the same checks that the verbs make. */
export async function rights(ctx: Ctx, jobId: string): Promise<JobRights> {
  const job = await findJob(ctx, jobId);
  const canStop = sourcesOf("canceled").includes(job.status) || job.status === "running";
  const mayRun = (acceptsDuplicate: boolean) =>
    refusalOf(async () => {
      requireRetryable(job, await lastAttemptOf(job), acceptsDuplicate);
      await access.authorize(ctx, "capabilities:run", { projectId: job.project_id });
    });
  const [cancel, decision, retry, runAgain] = await Promise.all([
    canStop && job.status !== "canceling"
      ? refusalOf(async () =>
          requireFeature(await access.authorize(ctx, "jobs:cancel", { projectId: job.project_id }), "cancel"),
        )
      : "",
    decisionRights(ctx, job),
    mayRun(false),
    mayRun(true),
  ]);
  return {
    cancel: cancel === null,
    ...decision,
    retry: retry === null,
    runAgain: retry !== null && runAgain === null,
    operate: job.status === "needs_attention" && isOperator(ctx),
  };
}

export async function decisionRights(
  ctx: Ctx,
  job: JobRow,
): Promise<Pick<JobRights, "approve" | "reject" | "whyNotDecide">> {
  if (job.status !== "awaiting_approval") return { approve: false, reject: false, whyNotDecide: null };
  const [approve, reject] = await Promise.all([
    refusalOf(() => requireDecider(ctx, job, "approve")),
    refusalOf(() => requireDecider(ctx, job, "reject")),
  ]);
  return { approve: approve === null, reject: reject === null, whyNotDecide: approve ?? reject };
}

/** The message of the refusal; null if the check passes. */
async function refusalOf(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (cause) {
    if (cause instanceof Fault) return cause.message;
    throw cause;
  }
}
