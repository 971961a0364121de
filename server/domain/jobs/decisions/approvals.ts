import type { PlanFeature } from "@/server/contract/billing";
import type { Job, JobApproveBody } from "@/server/contract/jobs";
import { access, type ProjectAccess, personBehind } from "@/server/domain/access";
import { type AuditRow, auditRow } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { end } from "@/server/domain/executions";
import { requireFeature } from "@/server/domain/plans";
import { job } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, microsToUsd, usdToMicros } from "@/server/platform/money";
import { plainJson } from "@/server/platform/text/json";
import { DAY_MS } from "@/server/platform/time/units";
import { int8, pick, present } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { wake } from "../admission/dispatch";
import { unleased } from "../ending/end";
import { foundEnding } from "../ending/ending";
import { get } from "../reading/get";
import { findJob, type JobRow, lastAttemptOf, type StoredApproval } from "../rows";
import { readJob } from "../running/work";
import { move, transition } from "../transitions/moves";

/** How long a job waits for a person. */
const APPROVAL_MS = 7 * DAY_MS;
/** An approval sends its wake at once; the sweeper sends a lost one again after this long. */
const WAKE_AGAIN_MS = 10_000;

const isPerson = (id: string) => id.startsWith("usr_");

const wantsSecondPerson = (project: ProjectAccess) => project.settings.requireDifferentApprover === true;

/**
 * The approval that a job needs because its estimate exceeds the project's threshold; null if it needs none.
 */
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

/** The event of a wait, with the figures to decide on. */
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
 * Pauses a running job until a person decides; the job holds no lease while it waits. Its rows hold its
 * progress, so the job continues from there after an approval. False if the lease was lost, or if a cancel
 * came first.
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

const IS_ONE_OF_THEM = "the job that waits is one of them";
const highestFigures = statement("job.read.highest_figures", {
  params: pick(job, "organization_id project_id comparison_id"),
  row: {
    estimatedMicros: present(int8, IS_ONE_OF_THEM),
    maximumMicros: present(int8, IS_ONE_OF_THEM),
  },
  sql: `SELECT max(estimated_micros)::bigint AS "estimatedMicros", max(maximum_micros)::bigint AS "maximumMicros"
     FROM job WHERE organization_id = $organization_id AND project_id = $project_id AND comparison_id = $comparison_id`,
});

/**
 * The figures that a wait inside a flow shows. A competitor shows the highest of its comparison, as at
 * admission.
 */
async function figuresOfWait(row: JobRow): Promise<{ estimatedMicros: Micros; maximumMicros: Micros }> {
  const { expectedMicros: estimatedMicros, maximumMicros } = row.pricing;
  const own = { estimatedMicros, maximumMicros };
  if (row.comparison_id === null) return own;
  return (await highestFigures.first(pool, row)) ?? own;
}

/** Throws unless this caller may decide on this job. */
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

/** Cancels a job on which no one decided in time, with its own error code. */
export async function expireApproval(ctx: Ctx, job: JobRow): Promise<void> {
  const attempt = await lastAttemptOf(job);
  const why = { code: "ApprovalExpired", message: "The job was not approved before its deadline." };
  await end(unleased(ctx, job, attempt, { isCanceled: true }), foundEnding(attempt, why));
}

/**
 * Finds a job for a decision. A job past its deadline is ended first, even if the sweep has not reached it
 * yet.
 */
async function findToDecide(ctx: Ctx, jobId: string, feature: PlanFeature): Promise<JobRow> {
  const job = await findJob(ctx, jobId, "approvals:write");
  await requireDecider(ctx, job, feature);
  const { status, approval_deadline_at: deadlineAt } = job;
  if (status !== "awaiting_approval" || deadlineAt === null || deadlineAt > ctx.now()) return job;
  await expireApproval(ctx, job);
  return findToDecide(ctx, jobId, feature);
}

/**
 * Approves a waiting job, which is queued with a fresh deadline and continues where it paused. Approving it
 * again returns the job, unless the call would authorize less. Throws JobNotAwaitingApproval if the job is
 * not waiting, and EstimateExceedsMaxCost if the call authorizes less than the estimate.
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
  // Another caller has decided, or the deadline has passed: start again from the job's new state.
  if (!moved) return approve(ctx, jobId, body);
  wake([{ id: job.id, projectId: job.project_id, dispatchNumber: moved.dispatch_number }]);
  return get(ctx, jobId, "approvals:write");
}

/** The audit entry of a decision, written by the statement that carries the decision out. */
export function decisionOn(
  ctx: Ctx,
  { organization_id: organizationId, project_id: projectId, id: subject }: JobRow,
  action: string,
  details: Record<string, Json> = {},
): AuditRow[] {
  return [auditRow(ctx, { organizationId, projectId, subject, action, details })];
}

/** Rejects a waiting job, which cancels it as ApprovalRejected. Rejecting it again returns the job. */
export async function reject(ctx: Ctx, jobId: string): Promise<Job> {
  const job = await findToDecide(ctx, jobId, "reject");
  if (job.status !== "awaiting_approval" || !job.approval) return decidedBefore(ctx, job, "rejected");
  const attempt = await lastAttemptOf(job);
  const ending = foundEnding(attempt, { code: "ApprovalRejected", message: "The job was rejected." });
  const before = [{ type: "job.rejected", payload: decisionPayload(ctx, {}) }];
  const audit = decisionOn(ctx, job, "job.rejected");
  const { written } = await end(unleased(ctx, job, attempt, { isCanceled: true, before, audit }), ending);
  if (!written) return reject(ctx, jobId);
  return get(ctx, jobId, "approvals:write");
}

/**
 * Refuses to approve again for less, because the second approver would believe that the lower amount applies.
 */
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
