import type { AttentionItem, Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { systemCtx } from "@/server/domain/ctx";
import { end } from "@/server/domain/executions";
import { attempt, job as jobTable, organization, project } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { microsToUsd } from "@/server/platform/money";
import { int8, pick } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { wake } from "../admission/dispatch";
import { unleased } from "../ending/end";
import { endingOf, foundEnding } from "../ending/ending";
import { get } from "../reading/get";
import { type AttemptRow, artifactsOf, type JobRow, lastAttemptOf } from "../rows";
import { toOutput } from "../running/output";
import { findSetAside, forgetSetAside } from "../running/set-aside";
import { readJob } from "../running/work";
import { move } from "../transitions/moves";
import { decisionOn } from "./approvals";

const MOST = 200;

const listWaiting = statement("job.list.needing_attention", {
  params: { limit: int8 },
  row: {
    ...pick(jobTable, "id project_id organization_id capability_key created_at attention maximum_micros"),
    cost_micros: attempt.cost_micros,
    project_name: project.display_name,
    organization_name: organization.display_name,
  },
  sql: `SELECT job.id, job.project_id, job.organization_id, job.capability_key, job.created_at, job.attention, job.maximum_micros,
       (SELECT cost_micros FROM attempt WHERE attempt.job_id = job.id ORDER BY number DESC LIMIT 1),
       project.display_name AS project_name, organization.display_name AS organization_name
     FROM job JOIN project ON project.id = job.project_id JOIN organization ON organization.id = job.organization_id
     WHERE (job.status = 'needs_attention') IS TRUE ORDER BY job.attention->>'since', job.id LIMIT $limit`,
});

/**
 * The jobs of all projects that wait for an operator, at most 200, longest waiting first: ids, names, reasons
 * and costs, but no content.
 */
export async function listAttention(ctx: Ctx): Promise<AttentionItem[]> {
  access.authorize(ctx, "operator");
  const rows = await listWaiting.all(pool, { limit: MOST });
  return rows.map((row) => ({
    jobId: row.id,
    projectId: row.project_id,
    organizationId: row.organization_id,
    capabilityKey: row.capability_key,
    createdAt: row.created_at.toISOString(),
    since: row.attention?.since ?? row.created_at.toISOString(),
    reason: row.attention?.reason ?? "unknown",
    step: row.attention?.step ?? "unknown",
    isAnswerKept: Boolean(row.attention?.answerId) || row.attention?.reason === "output_not_processed",
    providerCost: row.cost_micros === null ? null : microsToUsd(row.cost_micros),
    projectName: row.project_name,
    organizationName: row.organization_name,
    held: microsToUsd(row.maximum_micros),
  }));
}

async function findWaiting(ctx: Ctx, jobId: string): Promise<{ job: JobRow; attempt: AttemptRow }> {
  access.authorize(ctx, "operator");
  const job = (await readJob(jobId)) ?? fail("NotFound", "There is no such job.");
  const attempt = await lastAttemptOf(job);
  if (job.status !== "needs_attention" || !attempt) {
    fail("JobNotInAttention", "The job is not waiting for an operator. Read it to see its status.", {
      status: job.status,
    });
  }
  return { job, attempt };
}

/**
 * The content of the kept answer, which `retryStep` and `acceptAsIs` need. Throws RetryNotSafe if it was not
 * kept.
 */
const contentOf = async (job: JobRow) =>
  (await findSetAside(job.id)) ??
  fail("RetryNotSafe", "The provider's answer could not be stored. Fail or cancel the job.");

/** The operator's first option: the step that kept failing runs again with the kept answer. */
export async function retryStep(ctx: Ctx, jobId: string): Promise<Job> {
  const { job, attempt } = await findWaiting(ctx, jobId);
  if (!attempt.answer?.unprocessed) await contentOf(job);
  const moved = await move({
    jobId: job.id,
    from: ["needs_attention"],
    to: "running",
    lastEvent: job.last_event,
    now: ctx.now(),
    event: {
      type: "job.retry_scheduled",
      payload: { step: job.attention?.step ?? "unknown", by: "operator" },
    },
    audit: decisionOn(ctx, job, "job.attention_retried", { step: job.attention?.step ?? "unknown" }),
  });
  if (moved) wake([{ id: job.id, projectId: job.project_id, dispatchNumber: moved.dispatch_number }]);
  return view(ctx, jobId);
}

/**
 * The second option: the job succeeds with the files as the provider made them, or with everything but files.
 * Throws RetryNotSafe for the answer of an earlier stage, or if the answer was not kept.
 */
export async function acceptAsIs(ctx: Ctx, jobId: string): Promise<Job> {
  const { job, attempt } = await findWaiting(ctx, jobId);
  if (attempt.stage !== null)
    fail(
      "RetryNotSafe",
      "The output of this stage is not the requested output. Retry the step, or fail or cancel the job.",
    );
  const { isSetAside: _, unprocessed, ...ending } = endingOf(attempt);
  const fresh = unprocessed ? null : toOutput(job, (await contentOf(job)).typedOutput, [], ctx.now());
  const kept = fresh
    ? { output: fresh, artifacts: [] }
    : { outputHash: null, artifacts: await artifactsOf(job) };
  const audit = decisionOn(ctx, job, "job.attention_accepted");
  await end(unleased(ctx, job, attempt, { isCanceled: false, kept, audit }), ending);
  await forgetSetAside(job.id);
  return view(ctx, jobId);
}

/** The third option: the job fails. The provider's work is charged as its answer reported it. */
export async function failWaiting(ctx: Ctx, jobId: string): Promise<Job> {
  const { job, attempt } = await findWaiting(ctx, jobId);
  const message =
    "The provider's work is paid for, but a later step kept failing, and an operator ended the job.";
  const audit = decisionOn(ctx, job, "job.attention_failed");
  const ending = foundEnding(attempt, { code: "failed", message });
  await end(unleased(ctx, job, attempt, { isCanceled: false, audit }), ending);
  return view(ctx, jobId);
}

/** An operator need not be a member, but may see the job that they just decided on. */
const view = (ctx: Ctx, jobId: string) => get(systemCtx("operator", ctx.now), jobId);
