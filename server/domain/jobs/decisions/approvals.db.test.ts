import { expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProject, rowsOf, startJob, type TestProject } from "@/testing/world";
import { attempt } from "../running/run";
import { beginSubmission, keepHandle } from "../transitions/attempt";

const QUESTION = { messages: [{ role: "user", content: "What is a capstan?" }] };
const TEXT = "text.general.fast.v1";

async function makeGuarded(settings: object = {}, thresholdMicros = 0): Promise<TestProject> {
  const project = await makeProject();
  await pool.query("UPDATE project SET approval_threshold_micros = $2, settings = $3 WHERE id = $1", [
    project.projectId,
    thresholdMicros,
    JSON.stringify(settings),
  ]);
  return project;
}

/**
 * The context of a key that this person made in the project. `userId` is null for a key without a known
 * person.
 */
function keyOf(project: TestProject, userId: string | null): Ctx {
  const { principal } = project.ctx;
  if (principal.kind !== "service_principal") throw new Error("a project's context is a key's");
  return { ...project.ctx, principal: { ...principal, id: newId("key"), scopes: new Set(SCOPES), userId } };
}

test("a job above the threshold waits with an open hold and nothing sent, and one at the threshold does not wait", async () => {
  const guarded = await makeGuarded();
  const { jobId, estimatedCost } = await jobs.submit(guarded.ctx, TEXT, QUESTION);
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "awaiting_approval", dispatch_state: "none" });
  expect(rows.hold).toMatchObject({ state: "open" });
  expect(rows.events.map(({ type }) => type)).toEqual(["job.awaiting_approval"]);
  expect(await startJob(guarded.ctx, jobId)).toBeNull();
  const { approval } = await jobs.get(guarded.ctx, jobId);
  expect(approval?.estimatedCost).toBeGreaterThanOrEqual(estimatedCost ?? Number.NaN);

  const micros = rows.job.estimated_micros;
  const atThreshold = await makeGuarded({}, micros);
  expect((await jobs.submit(atThreshold.ctx, TEXT, QUESTION)).status).toBe("queued");
  const justAbove = await makeGuarded({}, micros - 1);
  expect((await jobs.submit(justAbove.ctx, TEXT, QUESTION)).status).toBe("awaiting_approval");
});

test("an approved job is queued with a fresh deadline and a new dispatch number, and runs", async () => {
  const project = await makeGuarded();
  const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
  project.clock.advance(DAY_MS);
  const approver = keyOf(project, null);
  await jobs.approve(approver, jobId);
  const { job, events } = await rowsOf(jobId);
  expect(job).toMatchObject({
    status: "queued",
    dispatch_state: "pending",
    dispatch_number: 2,
    approval_deadline_at: null,
  });
  expect(job.queue_deadline_at.getTime()).toBeGreaterThan(project.clock.now().getTime() + 7_190_000);
  expect(events.map(({ type }) => type)).toEqual(["job.awaiting_approval", "job.approved", "job.queued"]);
  await jobs.sweep(project.ctx, project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "succeeded" });
});

test("a job without a decision for seven days is canceled as ApprovalExpired, and its hold is released", async () => {
  const project = await makeGuarded();
  const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
  project.clock.advance(7 * DAY_MS - 60_000);
  await jobs.sweep(project.ctx, project);
  expect((await jobs.get(project.ctx, jobId)).status).toBe("awaiting_approval");
  project.clock.advance(120_000);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "canceled",
    nextAction: "stop",
    error: { code: "ApprovalExpired" },
    retry: { newKeySafe: true },
  });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
});

test("a decision after the deadline is too late even before the sweep has ended the job", async () => {
  const project = await makeGuarded();
  const approver = keyOf(project, null);
  for (const decide of [jobs.approve, jobs.reject]) {
    const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
    project.clock.advance(7 * DAY_MS + 1000);
    for (const _again of [1, 2])
      await expect(decide(approver, jobId)).rejects.toMatchObject({
        code: "JobNotAwaitingApproval",
        details: { status: "canceled" },
      });
    expect(await jobs.get(project.ctx, jobId)).toMatchObject({
      status: "canceled",
      error: { code: "ApprovalExpired" },
    });
    const { hold, events } = await rowsOf(jobId);
    expect(hold).toMatchObject({ state: "released" });
    expect(events.map(({ type }) => type)).not.toContain("job.approved");
  }
});

test("exactly one of twelve simultaneous decisions is made, and every caller gets the resulting job or a refusal", async () => {
  const project = await makeGuarded();
  const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
  const approver = keyOf(project, null);
  const answers = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) =>
      n % 2 ? jobs.approve(approver, jobId) : jobs.reject(approver, jobId),
    ),
  );
  const { events } = await rowsOf(jobId);
  const made = events.filter(({ type }) => type === "job.approved" || type === "job.rejected");
  expect(made).toHaveLength(1);
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(6);
  for (const answer of answers) {
    if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "JobNotAwaitingApproval" });
  }
});

test("members may decide, viewers may not, and a key needs the scope", async () => {
  const project = await makeGuarded();
  const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
  const viewer = await makePerson(project.organizationId, "viewer");
  const member = await makePerson(project.organizationId, "member");
  const stranger = await makePerson((await makeProject()).organizationId, "owner");
  await expect(jobs.approve(project.ctx, jobId)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  await expect(jobs.approve(viewer.ctx, jobId)).rejects.toMatchObject({ code: "NotFound" });
  await expect(jobs.approve(stranger.ctx, jobId)).rejects.toMatchObject({ code: "NotFound" });
  expect(await jobs.rights(viewer.ctx, jobId)).toMatchObject({
    approve: false,
    reject: false,
    cancel: false,
  });
  expect(await jobs.rights(member.ctx, jobId)).toMatchObject({
    approve: true,
    reject: true,
    cancel: true,
    operate: false,
  });
  expect((await jobs.approve(member.ctx, jobId)).status).toBe("queued");
});

test("a rule for a second person excludes the submitter, their keys and keys without a known person", async () => {
  const project = await makeGuarded({ requireDifferentApprover: true });
  const submitter = await makePerson(project.organizationId, "owner");
  const second = await makePerson(project.organizationId, "member");
  const { jobId, approval } = await jobs.submit(keyOf(project, submitter.userId), TEXT, QUESTION);
  expect(approval?.whoMayDecide).toMatchObject({ differentPersonRequired: true });
  expect((await rowsOf(jobId)).job.submitted_by).toBe(submitter.userId);
  for (const ctx of [submitter.ctx, keyOf(project, submitter.userId), keyOf(project, null)]) {
    for (const decide of [jobs.approve, jobs.reject])
      await expect(decide(ctx, jobId)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  }
  expect((await jobs.rights(submitter.ctx, jobId)).whyNotDecide).toContain("someone else must decide");
  expect((await jobs.rights(second.ctx, jobId)).whyNotDecide).toBeNull();
  // Lifting the rule later does not open jobs that were submitted under it.
  await pool.query("UPDATE project SET settings = '{}' WHERE id = $1", [project.projectId]);
  await expect(jobs.approve(submitter.ctx, jobId)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  expect((await jobs.approve(keyOf(project, second.userId), jobId)).status).toBe("queued");
});

test("a replay of a waiting job's key returns the waiting job", async () => {
  const project = await makeGuarded();
  const body = { input: QUESTION, idempotencyKey: "once" };
  const first = await jobs.submit(project.ctx, TEXT, body);
  expect(await jobs.submit(project.ctx, TEXT, body)).toMatchObject({
    jobId: first.jobId,
    status: "awaiting_approval",
    nextAction: "present_approval",
  });
});

const GATE = {
  reason: "turnaround_review" as const,
  step: "views",
  shown: { artifactIds: ["art_1", "art_2"] },
};

test("a job paused inside a flow waits without a worker and continues where it paused once approved", async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
  const started = await startJob(project.ctx, jobId);
  expect(await jobs.pauseForApproval(project.ctx, { jobId, fence: started!.fence }, GATE)).toBe(true);
  const waiting = await jobs.get(project.ctx, jobId);
  expect(waiting).toMatchObject({
    status: "awaiting_approval",
    nextAction: "present_approval",
    approval: {
      reason: "turnaround_review",
      step: "views",
      artifactIds: ["art_1", "art_2"],
      threshold: null,
    },
  });
  expect((await rowsOf(jobId)).job).toMatchObject({ lease_owner: null, lease_until: null });
  // The worker that paused the job no longer holds it.
  await attempt(project.ctx, jobId, started!);
  expect((await rowsOf(jobId)).attempts[0]).toMatchObject({ submission: "not_attempted" });

  // Time spent waiting for people does not count toward the execution limit.
  project.clock.advance(3 * DAY_MS);
  expect((await jobs.approve(keyOf(project, null), jobId)).status).toBe("queued");
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const { job, attempts, events } = await rowsOf(jobId);
  expect(job.status).toBe("succeeded");
  expect(attempts).toHaveLength(1);
  expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
});

test("work that the provider holds is not submitted again after an approval, and stays ambiguous after a rejection", async () => {
  const paused = async (project: TestProject) => {
    const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
    const started = await startJob(project.ctx, jobId);
    const { attemptId, fence } = started!;
    const now = project.ctx.now();
    await beginSubmission({ tier: "standard", jobId, fence, attemptId, now });
    await keepHandle({ jobId, fence, attemptId, leaseMs: 0, handle: { id: "batch_1" }, now });
    expect(await jobs.pauseForApproval(project.ctx, { jobId, fence }, GATE)).toBe(true);
    return jobId;
  };
  const project = await makeProject();
  const approver = keyOf(project, null);
  const approved = await paused(project);
  await jobs.approve(approver, approved);
  await jobs.run(project.ctx, approved, inlineStep(project.clock));
  const { events } = await rowsOf(approved);
  expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);

  const rejected = await paused(project);
  expect(await jobs.reject(approver, rejected)).toMatchObject({
    status: "canceled",
    retry: { newKeySafe: false },
  });
  expect((await rowsOf(rejected)).hold).toMatchObject({ state: "ambiguous" });

  // An approved job that no worker takes up again fails late, but must not run a second time.
  const late = await paused(project);
  await jobs.approve(approver, late);
  project.clock.advance(DAY_MS);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, late)).toMatchObject({
    status: "failed",
    error: { code: "QueueTimeout" },
    nextAction: "inspect_error",
    retry: { newKeySafe: false },
  });
  expect((await rowsOf(late)).hold).toMatchObject({ state: "ambiguous" });
});

test("a job that was canceled first is not paused", async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, TEXT, QUESTION);
  const started = await startJob(project.ctx, jobId);
  await jobs.cancel(project.ctx, jobId);
  expect(await jobs.pauseForApproval(project.ctx, { jobId, fence: started!.fence }, GATE)).toBe(false);
  expect((await jobs.get(project.ctx, jobId)).status).toBe("canceling");
});

test("a progress report is an event if it is new, and the job shows the latest", async () => {
  const project = await makeProject();
  const { jobId, progress } = await jobs.submit(project.ctx, TEXT, QUESTION);
  expect(progress).toBeNull();
  const { attemptId, fence } = (await startJob(project.ctx, jobId))!;
  const now = project.ctx.now();
  await beginSubmission({ tier: "standard", jobId, fence, attemptId, now });
  const report = (percent?: number) =>
    keepHandle({
      jobId,
      fence,
      attemptId,
      leaseMs: 0,
      handle: { id: "batch_1" },
      progress: { phase: "provider", step: "rendering", ...(percent === undefined ? {} : { percent }) },
      now: project.ctx.now(),
    });
  for (const percent of [undefined, 20, 20, 60]) await report(percent);
  const { events } = await jobs.events(project.ctx, jobId, { type: "job.progress", limit: 50 });
  expect(events.map(({ payload }) => payload)).toEqual([
    { phase: "provider", step: "rendering" },
    { phase: "provider", step: "rendering", percent: 20 },
    { phase: "provider", step: "rendering", percent: 60 },
  ]);
  expect((await jobs.get(project.ctx, jobId)).progress).toEqual({
    phase: "provider",
    step: "rendering",
    percent: 60,
    updatedAt: events.at(-1)?.createdAt,
  });
});
