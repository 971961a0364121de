import { SCOPES } from "@/server/contract/enums";
import { type JobStatus, TERMINAL } from "@/server/contract/jobs";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { makeProject, rowsOf, type TestProject } from "@/testing/world";

/* The test's model of a job, and how a job and its model are made. */

export const SECOND_MS = 1_000;
export const QUEUE_MS = 7_200 * SECOND_MS;
export const APPROVAL_MS = 7 * DAY_MS;
export const EXECUTION_MS = 120 * SECOND_MS;

/** How far the attempt has come, according to its rows. */
type Tried = "none" | "untried" | "begun" | "handle" | "answered" | "aside";

export type Model = {
  status: JobStatus;
  tried: Tried;
  /** The claim that holds the job; older claims belong to workers that lost it. */
  fence: number;
  /** The engine run that made the claim. */
  runId: string | null;
  leaseUntil: number;
  queueUntil: number;
  approvalUntil: number;
  /** Start of the execution limit, moved later by waits for people. */
  workedFrom: number;
  pausedAt: number;
  triedSince: number;
  busyAnswers: number;
  lastDecision: "approved" | "rejected" | null;
};

export type Real = {
  project: TestProject;
  /** The client, which may also approve. */
  client: Ctx;
  operator: Ctx;
  jobId: string;
  model: string;
  /** Every claim that was ever made, newest last. */
  claims: { attemptId: string; fence: number; runId: string }[];
  /** The record at the end of the job. Its money is separate, because a late answer may still settle it. */
  ended: { record: string; money: string; isAmbiguous: boolean } | null;
};

export type Step = {
  name: string;
  /**
   * Limits the steps that a worker may take in a state; clients, operators and the clock have no such limit.
   */
  isThinkable?(model: Model): boolean;
  run(model: Model, real: Real): Promise<void>;
};

/**
 * Leases end by the database's clock. Converts such a time to the test's clock, which is ahead by the time
 * that the test let pass.
 */
export const leaseEndOf = (real: Real, leaseUntil: Date | null) =>
  leaseUntil === null ? 0 : leaseUntil.getTime() + nowOf(real) - Date.now();

export const nowOf = (real: Real) => real.project.clock.now().getTime();
export const isEnded = (model: Model) => TERMINAL.includes(model.status);

export const isWorkedOn = (model: Model) => model.status === "running" || model.status === "canceling";

export function queued(model: Model, real: Real) {
  model.status = "queued";
  model.queueUntil = nowOf(real) + QUEUE_MS;
}

export async function look(model: Model, real: Real): Promise<void> {
  const { job, attempts } = await rowsOf(real.jobId);
  const [tried] = attempts;
  model.status = job.status;
  model.fence = job.fence;
  model.runId = job.run_id;
  model.leaseUntil = leaseEndOf(real, job.lease_until);
  model.queueUntil = job.queue_deadline_at.getTime();
  model.approvalUntil = job.approval_deadline_at?.getTime() ?? 0;
  model.workedFrom = job.started_at ? job.started_at.getTime() + (job.approval?.pausedMs ?? 0) : 0;
  model.pausedAt = job.approval ? Date.parse(job.approval.requestedAt) : 0;
  model.triedSince = tried?.started_at.getTime() ?? 0;
  model.busyAnswers = tried?.capacity_rejections ?? 0;
  model.lastDecision =
    job.error_code === "ApprovalRejected" ? "rejected" : (job.approval?.decision?.decision ?? null);
  model.tried = !tried
    ? "none"
    : tried.answer
      ? tried.answer.isSetAside
        ? "aside"
        : "answered"
      : tried.handle
        ? "handle"
        : tried.submission === "ambiguous"
          ? "begun"
          : "untried";
}

export async function makeWorld(model: string, isWaiting: boolean): Promise<{ model: Model; real: Real }> {
  const project = await makeProject();
  const principal = project.ctx.principal as Extract<Ctx["principal"], { kind: "service_principal" }>; // as made
  const client: Ctx = { ...project.ctx, principal: { ...principal, scopes: new Set(SCOPES) } };
  if (isWaiting)
    await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [project.projectId]);
  const { jobId, status } = await jobs.submit(client, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "What is a capstan?" }] },
    preferredModel: model,
  });
  const now = project.clock.now().getTime();
  return {
    real: {
      project,
      client,
      operator: systemCtx("operator", project.clock.now),
      jobId,
      model,
      claims: [],
      ended: null,
    },
    model: {
      status,
      tried: "none",
      fence: 0,
      runId: null,
      leaseUntil: 0,
      queueUntil: now + QUEUE_MS,
      approvalUntil: now + APPROVAL_MS,
      workedFrom: 0,
      pausedAt: 0,
      triedSince: 0,
      busyAnswers: 0,
      lastDecision: null,
    },
  };
}
