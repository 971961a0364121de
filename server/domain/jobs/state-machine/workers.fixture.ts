import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { JobStatus } from "@/server/contract/jobs";
import { ending, LEASE_MS } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { toAnswer } from "@/server/domain/jobs/ending/ending";
import { attempt } from "@/server/domain/jobs/running/run";
import { keepAside } from "@/server/domain/jobs/running/set-aside";
import { readJob } from "@/server/domain/jobs/running/work";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { startJob } from "@/testing/world";
import { storeAnswer } from "../transitions/answer";
import { beginSubmission, keepHandle } from "../transitions/attempt";
import {
  APPROVAL_MS,
  EXECUTION_MS,
  isWorkedOn,
  leaseEndOf,
  type Model,
  nowOf,
  type Real,
  SECOND_MS,
  type Step,
} from "./model.fixture";

/* The steps of workers, both of those that hold the job and of those that lost it without noticing. */

const GOOD = ["sandbox-1", "sandbox-busy"];

const answer = ending(
  "result",
  {
    submission: "attempted",
    providerRequestId: "sbx_1",
    providerModel: "sandbox-1",
    httpStatus: 200,
    tier: "standard",
    usage: { inputTokens: 3, outputTokens: 4 },
    costMicros: 7,
  },
  { state: "succeeded", finishReason: "stop" },
);
const content = { typedOutput: { content: "A winch.", role: "assistant" }, files: [] };

/** The claim under which a worker acts: the newest at age 0, or one that was lost. */
const claimOf = (real: Real, age: number) => real.claims.at(-1 - age);
const holds = (model: Model, claim: { fence: number }) => claim.fence === model.fence;

/** An engine run claims the job. Checks whether the claim must succeed, and updates the model. */
async function take(model: Model, real: Real, runId: string): Promise<void> {
  const isFree = model.status === "running" && model.leaseUntil < nowOf(real);
  const canGoOn = isFree && ["handle", "answered", "aside"].includes(model.tried);
  const canStart = model.status === "queued" && model.queueUntil > nowOf(real);
  const isStillIts = !canGoOn && isWorkedOn(model) && model.runId === runId;
  const started = await startJob(real.project.ctx, real.jobId, runId);
  expect(started !== null).toBe(canGoOn || canStart || isStillIts);
  if (!started) return;
  if (isStillIts) {
    expect(started).toMatchObject({ attemptId: real.claims.at(-1)?.attemptId, fence: model.fence });
    return;
  }
  real.claims.push({ ...started, runId });
  model.status = "running";
  model.fence = started.fence;
  model.runId = runId;
  model.leaseUntil = nowOf(real) + LEASE_MS;
  if (model.tried === "none") {
    model.tried = "untried";
    model.workedFrom = nowOf(real);
    model.triedSince = nowOf(real);
  }
}

export const claim: Step = {
  name: "claim",
  run: (model, real) => take(model, real, randomUUID()),
};

/**
 * The engine delivers the claiming step again because its worker died, or was given up, before the result was
 * stored.
 */
export const deliverAgain = (age: number): Step => ({
  name: `the claim delivered again, worker ${age}`,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (mine) await take(model, real, mine.runId);
  },
});

export const begin = (age: number): Step => ({
  name: `begin submission, worker ${age}`,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const may = holds(model, mine) && model.status === "running" && model.tried === "untried";
    const begun = await beginSubmission({
      tier: "standard",
      jobId: real.jobId,
      ...mine,
      now: real.project.clock.now(),
    });
    expect(begun).toBe(may);
    if (begun) model.tried = "begun";
  },
});

/** Limits writes to workers whose request was sent. */
const mayAnswer = (model: Model) => model.tried === "begun" || model.tried === "handle";

export const keep = (age: number): Step => ({
  name: `keep a handle, worker ${age}`,
  isThinkable: mayAnswer,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const kept = await keepHandle({
      jobId: real.jobId,
      ...mine,
      leaseMs: LEASE_MS,
      handle: { id: "batch_1" },
      progress: { phase: "provider", step: "working", percent: 50 },
      now: real.project.clock.now(),
    });
    expect(kept).toBe(holds(model, mine) && isWorkedOn(model));
    if (!kept) return;
    model.tried = "handle";
    model.leaseUntil = Math.max(model.leaseUntil, nowOf(real) + LEASE_MS);
  },
});

export const store = (age: number): Step => ({
  name: `store the answer, worker ${age}`,
  isThinkable: mayAnswer,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const now = real.project.clock.now();
    const output = {
      kind: "output" as const,
      id: newId("payload"),
      content: JSON.stringify(content.typedOutput),
      sha256: "0".repeat(64),
      byte_length: 41,
      expires_at: null,
      is_sealed: false,
    };
    const kept = { ending: answer, output, artifacts: [] };
    const stored = await storeAnswer({
      jobId: real.jobId,
      fence: mine.fence,
      now,
      ...toAnswer(mine.attemptId, kept as never, now), // an output that every version accepts
    });
    expect(stored).toBe(holds(model, mine) && isWorkedOn(model));
    if (stored) model.tried = "answered";
  },
});

export const putAside = (age: number): Step => ({
  name: `set the answer aside, worker ${age}`,
  isThinkable: mayAnswer,
  async run(model, real) {
    const mine = claimOf(real, age);
    const job = await readJob(real.jobId);
    if (!mine || !job) return;
    const aside = { step: "store_output", content } as const;
    const isAside = await keepAside(real.project.ctx, { job, ...mine }, answer, aside);
    expect(isAside).toBe(holds(model, mine) && model.status === "running");
    if (!isAside) return;
    model.tried = "aside";
    model.status = "needs_attention";
  },
});

export const gate = (age: number): Step => ({
  name: `pause for approval, worker ${age}`,
  isThinkable: (model) => model.tried !== "begun" && model.tried !== "aside",
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const paused = await jobs.pauseForApproval(
      real.project.ctx,
      { jobId: real.jobId, fence: mine.fence },
      { reason: "turnaround_review", step: "views", shown: { artifactIds: [] } },
    );
    expect(paused).toBe(holds(model, mine) && model.status === "running");
    if (!paused) return;
    model.status = "awaiting_approval";
    model.approvalUntil = nowOf(real) + APPROVAL_MS;
    model.pausedAt = nowOf(real);
    model.lastDecision = null;
  },
});

/** The statuses in which a whole turn of the worker that holds the job may end. */
function turn(model: Model, real: Real): JobStatus[] {
  if (model.status === "canceling") return ["canceled"];
  switch (model.tried) {
    case "answered":
    case "aside":
      return ["succeeded"];
    case "begun":
    case "handle": // the sandbox keeps no work, so a poll fails
      return ["failed"];
    default: {
      const left = model.workedFrom + EXECUTION_MS - nowOf(real);
      // At the limit itself the clock and the provider race; after it the job always fails.
      if (left < 0) return ["failed"];
      if (real.model === "sandbox-busy" && model.busyAnswers < 2) {
        return nowOf(real) - model.triedSince > EXECUTION_MS - 10 * SECOND_MS
          ? ["failed", "running"]
          : ["running"];
      }
      return [GOOD.includes(real.model) ? "succeeded" : "failed"];
    }
  }
}

export const work = (age: number): Step => ({
  name: `a whole turn, worker ${age}`,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const wanted = holds(model, mine) && isWorkedOn(model) ? turn(model, real) : [model.status];
    const isFresh = holds(model, mine) && model.status === "running" && model.tried === "untried";
    await attempt(real.project.ctx, real.jobId, mine);
    const { status } = (await readJob(real.jobId))!;
    expect(wanted).toContain(status);
    model.status = status;
    if (isFresh && status === "running") {
      model.busyAnswers++;
      const refused = await pool.query("SELECT lease_until FROM job WHERE id = $1", [real.jobId]);
      model.leaseUntil = leaseEndOf(real, refused.rows[0].lease_until);
    }
  },
});
