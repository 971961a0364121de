import type { PlanFeature } from "@/server/contract/billing";
import type { Job, JobApproveBody } from "@/server/contract/jobs";
import { access, type ProjectAccess, personBehind } from "@/server/domain/access";
import { type AuditRow, auditRow } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { requireFeature } from "@/server/domain/plans";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, microsToUsd, usdToMicros } from "@/server/platform/money";
import { plainJson } from "@/server/platform/text/json";
import { DAY_MS } from "@/server/platform/time/units";
import { wake } from "../admission/dispatch";
import { finishUnleased } from "../ending/end";
import { foundEnding } from "../ending/ending";
import { get } from "../reading/get";
import { attemptOf, findJob, type JobRow, type StoredApproval } from "../rows";
import { readJob } from "../running/work";
import { move, transition } from "../transitions/moves";

/** So long a job waits for a person. */
const APPROVAL_MS = 7 * DAY_MS;
/** The wake that follows an approval is sent at once; the sweeper sends it again after this, where it was lost. */
const WAKE_AGAIN_MS = 10_000;

const isPerson = (id: string) => id.startsWith("usr_");

const wantsSecondPerson = (project: ProjectAccess) => project.settings.requireDifferentApprover === true;

/** What a job whose estimate is above the project's threshold waits with; null: it need not wait. */
export function approvalAtAdmission(
  project: ProjectAccess,
  estimate: { expectedMicros: Micros; maximumMicros: Micros },
  now: Date,
): { approval: StoredApproval; deadlineAt: Date } | null {
  const threshold = project.approvalThresholdMicros;
  if (threshold === null || estimate.expectedMicros <= threshold) return null;
  return {
    approval: {
      reason: "estimate_above_threshold",
      step: null,
      estimatedMicros: estimate.expectedMicros,
      maximumMicros: estimate.maximumMicros,
      thresholdMicros: threshold,
      isDifferentApproverRequired: wantsSecondPerson(project),
      requestedAt: now.toISOString(),
      shown: {},
      pausedMs: 0,
      decision: null,
    },
    deadlineAt: new Date(now.getTime() + APPROVAL_MS),
  };
}

/** The event of a wait, with what there is to decide on. */
export const awaitingApprovalEvent = (approval: StoredApproval, deadlineAt: Date) => ({
  type: "job.awaiting_approval",
  payload: {
    reason: approval.reason,
    step: approval.step,
    estimatedCost: microsToUsd(approval.estimatedMicros),
    chargeEstimatedMicros: approval.estimatedMicros,
    threshold: approval.thresholdMicros === null ? null : microsToUsd(approval.thresholdMicros),
    deadlineAt: deadlineAt.toISOString(),
  },
});

/**
 * A gate inside a flow: the running job waits for a person and holds no lease meanwhile. What it has done so far is
 * in its rows, so when it is approved it goes on from there. False: the lease is lost, or a cancel came first.
 */
export async function pauseForApproval(
  ctx: Ctx,
  held: { jobId: string; fence: number },
  gate: { reason: StoredApproval["reason"]; step: string; shown: Record<string, Json> },
): Promise<boolean> {
  const job = await readJob(held.jobId);
  if (!job) return false;
  const project = await access.authorize(ctx, "jobs:write", { projectId: job.project_id });
  const now = ctx.now();
  const deadlineAt = new Date(now.getTime() + APPROVAL_MS);
  const { estimatedMicros, maximumMicros } = await figuresOfWait(job);
  const approval: StoredApproval = {
    ...gate,
    estimatedMicros,
    maximumMicros,
    thresholdMicros: null,
    isDifferentApproverRequired: wantsSecondPerson(project),
    requestedAt: now.toISOString(),
    pausedMs: job.approval?.pausedMs ?? 0,
    decision: null,
  };
  return transition({
    jobId: job.id,
    fence: held.fence,
    from: ["running"],
    to: "awaiting_approval",
    now,
    event: awaitingApprovalEvent(approval, deadlineAt),
    approval: plainJson(approval),
    approvalDeadlineAt: deadlineAt,
  });
}

/** What a wait inside a flow shows: of a competitor what the dearest of its comparison may cost, as at admission. */
async function figuresOfWait(job: JobRow): Promise<{ estimatedMicros: Micros; maximumMicros: Micros }> {
  const { expectedMicros: estimatedMicros, maximumMicros } = job.pricing;
  if (job.comparison_id === null) return { estimatedMicros, maximumMicros };
  const { rows } = await pool.query<{ estimatedMicros: Micros; maximumMicros: Micros }>(
    `SELECT max(estimated_micros)::bigint AS "estimatedMicros", max(maximum_micros)::bigint AS "maximumMicros"
     FROM job WHERE organization_id = $1 AND project_id = $2 AND comparison_id = $3`,
    [job.organization_id, job.project_id, job.comparison_id],
  );
  return rows[0] ?? { estimatedMicros, maximumMicros };
}

/** May this caller decide about this job? Throws the refusal. */
export async function requireDecider(ctx: Ctx, job: JobRow, feature: PlanFeature): Promise<void> {
  const project = await access.authorize(ctx, "approvals:write", { projectId: job.project_id });
  requireFeature(project, feature);
  if (!job.approval?.isDifferentApproverRequired && !wantsSecondPerson(project)) return;
  const person = personBehind(ctx.principal);
  if (!isPerson(person))
    fail(
      "AuthorizationFailed",
      "A second person must decide, and this key does not belong to a known person. Decide in the panel.",
    );
  if (person === job.submitted_by)
    fail("AuthorizationFailed", "You submitted this job, so someone else must decide on it.");
}

/** Ends a job that no one decided about in time: like a rejection, with its own code. False like `finishUnleased`. */
export async function expireApproval(ctx: Ctx, job: JobRow): Promise<boolean> {
  const attempt = await attemptOf(job);
  const why = { code: "ApprovalExpired", message: "The job was not approved before its deadline." };
  return finishUnleased(ctx, job, attempt, { to: "canceled", ending: foundEnding(attempt, why) });
}

/** The job as a decider finds it: one whose deadline has passed has ended, whether the sweep has come by or not. */
async function findToDecide(ctx: Ctx, jobId: string, feature: PlanFeature): Promise<JobRow> {
  const job = await findJob(ctx, jobId, "approvals:write");
  await requireDecider(ctx, job, feature);
  const { status, approval_deadline_at: deadlineAt } = job;
  if (status !== "awaiting_approval" || deadlineAt === null || deadlineAt > ctx.now()) return job;
  await expireApproval(ctx, job);
  return findToDecide(ctx, jobId, feature);
}

/**
 * Approves a waiting job: it is queued with a fresh deadline, and goes on where it paused. Approving it again answers
 * with it, unless it would authorize less; a job that waits for no one is JobNotAwaitingApproval.
 */
export async function approve(ctx: Ctx, jobId: string, body?: JobApproveBody): Promise<Job> {
  const job = await findToDecide(ctx, jobId, "approve");
  const authorized = body?.authorizedMaxAmount ?? null;
  if (job.status !== "awaiting_approval" || !job.approval) {
    const approved = await decidedBefore(ctx, job, "approved");
    refuseLess(job, authorized);
    return approved;
  }
  const { approval } = job;
  if (authorized !== null && usdToMicros(authorized) < approval.estimatedMicros) {
    fail(
      "EstimateExceedsMaxCost",
      "The estimate is higher than authorizedMaxAmount. Authorize at least details.estimatedCost.",
      {
        authorizedMaxAmount: authorized,
        estimatedCost: microsToUsd(approval.estimatedMicros),
      },
    );
  }
  const now = ctx.now();
  const waitedMs = job.started_at ? now.getTime() - Date.parse(approval.requestedAt) : 0;
  const decided: StoredApproval = {
    ...approval,
    pausedMs: approval.pausedMs + waitedMs,
    decision: { decision: "approved", at: now.toISOString(), authorizedMaxAmount: authorized },
  };
  const moved = await move({
    jobId: job.id,
    from: ["awaiting_approval"],
    to: "queued",
    lastEvent: job.last_event,
    now,
    event: {
      type: "job.approved",
      payload: decisionPayload(ctx, { authorizedMaxAmount: authorized }),
    },
    more: [{ type: "job.queued", payload: { capabilityKey: job.capability_key, reason: "approved" } }],
    approval: plainJson(decided),
    dispatchAfter: new Date(now.getTime() + WAKE_AGAIN_MS),
    audit: decisionOn(ctx, job, "job.approved", { authorizedMaxAmount: authorized }),
  });
  // Somebody decided meanwhile, or the time had ended: answered by the job as it is now.
  if (!moved) return approve(ctx, jobId, body);
  wake([{ id: job.id, projectId: job.project_id, dispatchNumber: moved.dispatch_number }]);
  return get(ctx, jobId, "approvals:write");
}

/** A decision about a job, for its organization's audit log: an input of the statement that carries it out. */
export function decisionOn(
  ctx: Ctx,
  { organization_id: organizationId, project_id: projectId, id: subject }: JobRow,
  action: string,
  details: Record<string, Json> = {},
): AuditRow[] {
  return [auditRow(ctx, { organizationId, projectId, subject, action, details })];
}

/** Rejects a waiting job: it is canceled as ApprovalRejected. Rejecting it again answers with it. */
export async function reject(ctx: Ctx, jobId: string): Promise<Job> {
  const job = await findToDecide(ctx, jobId, "reject");
  if (job.status !== "awaiting_approval" || !job.approval) return decidedBefore(ctx, job, "rejected");
  const attempt = await attemptOf(job);
  const isDone = await finishUnleased(ctx, job, attempt, {
    to: "canceled",
    ending: foundEnding(attempt, { code: "ApprovalRejected", message: "The job was rejected." }),
    before: [{ type: "job.rejected", payload: decisionPayload(ctx, {}) }],
    audit: decisionOn(ctx, job, "job.rejected"),
  });
  if (!isDone) return reject(ctx, jobId);
  return get(ctx, jobId, "approvals:write");
}

/** The second approver would otherwise believe that the lower amount holds. */
function refuseLess({ status, approval }: JobRow, authorized: number | null): void {
  const first = approval?.decision?.authorizedMaxAmount;
  if (authorized === null || first === undefined || (first !== null && authorized >= first)) return;
  const terms = first === null ? "without authorizedMaxAmount" : `with authorizedMaxAmount ${first}`;
  fail(
    "JobNotAwaitingApproval",
    `The job was already approved ${terms}, and a lower amount cannot replace it. Cancel the job if it may not run on those terms.`,
    { status, authorizedMaxAmount: first },
  );
}

async function decidedBefore(ctx: Ctx, job: JobRow, wanted: "approved" | "rejected"): Promise<Job> {
  const was = job.error_code === "ApprovalRejected" ? "rejected" : job.approval?.decision?.decision;
  if (was !== wanted || (wanted === "approved" && job.status === "canceled")) {
    fail("JobNotAwaitingApproval", "The job is not waiting for approval. Read it to see its status.", {
      status: job.status,
    });
  }
  return get(ctx, job.id, "approvals:write");
}

const decisionPayload = (ctx: Ctx, more: Record<string, Json>): Record<string, Json> => ({
  by: ctx.principal.kind,
  principalId: ctx.principal.id,
  ...more,
});
