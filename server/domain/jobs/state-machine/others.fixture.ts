import { expect } from "vitest";
import type { JobStatus } from "@/server/contract/jobs";
import * as jobs from "@/server/domain/jobs";
import { Fault } from "@/server/platform/errors/errors";
import { EXECUTION_MS, isEnded, isWorkedOn, nowOf, queued, SECOND_MS, type Step } from "./model.fixture";

/* The steps of clients, operators, the sweeper and the clock. */

/** The code of a refusal; null if there was none. Any other error is a bug and is thrown. */
async function codeOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (cause) {
    if (cause instanceof Fault) return cause.code;
    throw cause;
  }
}

export const cancel: Step = {
  name: "cancel",
  async run(model, real) {
    const code = await codeOf(jobs.cancel(real.client, real.jobId));
    const isTooLate = model.status === "succeeded" || model.status === "failed";
    expect(code).toBe(isTooLate ? "JobNotCancelable" : null);
    if (isEnded(model)) return;
    model.status = isWorkedOn(model) ? "canceling" : "canceled";
  },
};

const DECIDE = { approve: jobs.approve, reject: jobs.reject };
export const decide = (decision: "approve" | "reject"): Step => ({
  name: decision,
  async run(model, real) {
    const code = await codeOf(DECIDE[decision](real.client, real.jobId));
    const past = decision === "approve" ? "approved" : "rejected";
    // A job without a decision in time has ended, even if the sweep has not reached it.
    if (model.status === "awaiting_approval" && model.approvalUntil <= nowOf(real)) model.status = "canceled";
    if (model.status === "awaiting_approval") {
      expect(code).toBe(null);
      model.lastDecision = past;
      if (decision === "reject") model.status = "canceled";
      else {
        if (model.workedFrom > 0) model.workedFrom += nowOf(real) - model.pausedAt;
        queued(model, real);
      }
      return;
    }
    const isSaid = model.lastDecision === past && !(past === "approved" && model.status === "canceled");
    expect(code).toBe(isSaid ? null : "JobNotAwaitingApproval");
  },
});

export const retry: Step = {
  name: "retry",
  async run(_model, real) {
    const { retry: hint } = await jobs.get(real.client, real.jobId);
    const code = await codeOf(jobs.retry(real.client, real.jobId));
    expect(code).toBe(hint.newKeySafe ? null : "RetryNotSafe");
  },
};

const OPERATE = { retryStep: jobs.retryStep, acceptAsIs: jobs.acceptAsIs, failWaiting: jobs.failWaiting };
export const operate = (way: "retryStep" | "acceptAsIs" | "failWaiting", to: JobStatus): Step => ({
  name: way,
  async run(model, real) {
    const code = await codeOf(OPERATE[way](real.operator, real.jobId));
    expect(code).toBe(model.status === "needs_attention" ? null : "JobNotInAttention");
    if (code) return;
    model.status = to;
    model.leaseUntil = 0;
  },
});

/** How long after its end a lease still belongs to its owner. */
const GRACE_MS = 3 * SECOND_MS;

export const sweep: Step = {
  name: "sweep",
  async run(model, real) {
    await jobs.sweep(real.project.ctx, real.project);
    const now = nowOf(real);
    const isLost = model.leaseUntil < now - GRACE_MS;
    if (model.status === "queued" && model.queueUntil <= now) model.status = "failed";
    else if (model.status === "awaiting_approval" && model.approvalUntil <= now) model.status = "canceled";
    else if (model.status === "canceling" && (isLost || model.tried === "untried")) model.status = "canceled";
    else if (model.status === "running" && isLost) {
      if (model.tried === "begun") model.status = "failed";
      if (model.tried === "untried") {
        if (now > model.workedFrom + EXECUTION_MS + 300 * SECOND_MS) model.status = "failed";
        else queued(model, real);
      }
    }
  },
};

export const pass = (ms: number): Step => ({
  name: `${ms / SECOND_MS} seconds pass`,
  run: (_model, real) => real.project.pass(ms),
});
