import { expect, test } from "vitest";
import { end, ending, nothingSent, releaseAllLeases } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { inlineStep, makeProject, rowsOf, startJob } from "@/testing/world";
import { leased } from "../ending/end";
import { frameWriter } from "../following/frames";
import { readerOf } from "../following/reader";
import { storeAnswer } from "../transitions/answer";
import { beginSubmission } from "../transitions/attempt";
import { setAside } from "../transitions/set-aside";
import {
  admitted,
  answerOf,
  claimElsewhere,
  lockedUntil,
  PAST_LEASE_MS,
  QUESTION,
  submittedJob,
  takenJob,
} from "./recovery.fixture";
import { attempt } from "./run";
import { readJob } from "./work";

test("a worker that dies before it submits loses nothing: the job is queued again under the same attempt number", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  await startJob(project.ctx, jobId);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "queued", dispatch_state: "pending" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "succeeded" });
  expect(rows.attempts).toHaveLength(1);
});

test("a worker that dies after submission began leaves a failed job with an ambiguous hold that is not safe to retry", async () => {
  const project = await makeProject();
  const { jobId } = await submittedJob(project);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "TRANSPORT_AMBIGUOUS" },
    retry: { newKeySafe: false },
  });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous" });
});

test("a worker that dies after the answer was stored is replaced, and the job succeeds with that answer", async () => {
  const project = await makeProject();
  const { jobId, started } = await submittedJob(project);
  await storeAnswer({
    jobId,
    fence: started.fence,
    now: project.ctx.now(),
    ...answerOf(started.attemptId),
  });
  expect(await claimElsewhere(project, jobId)).toBeNull();
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "succeeded",
    typedOutput: { content: "A winch." },
    actualCost: 0.000007,
  });
});

test("a worker whose lease was taken over writes nothing more", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const first = await startJob(project.ctx, jobId);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  const second = await startJob(project.ctx, jobId);
  expect(second!.fence).toBeGreaterThan(first!.fence);
  expect(
    await beginSubmission({
      tier: "standard",
      jobId,
      fence: first!.fence,
      attemptId: first!.attemptId,
      now: project.ctx.now(),
    }),
  ).toBe(false);
  expect(
    await storeAnswer({ jobId, fence: first!.fence, now: project.ctx.now(), ...answerOf(first!.attemptId) }),
  ).toBe(false);
  const job = (await readJob(jobId))!;
  const turn = { ctx: project.ctx, work: { job, inputHash: "" }, row: null, lease: first! };
  const { written } = await end(leased(turn), ending("timed_out_unsent", nothingSent));
  expect(written).toBeUndefined();
  expect(
    await beginSubmission({
      tier: "standard",
      jobId,
      fence: second!.fence,
      attemptId: second!.attemptId,
      now: project.ctx.now(),
    }),
  ).toBe(true);
});

test("a worker whose lease was taken over stores no more text and sets no answer aside", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const first = (await startJob(project.ctx, jobId))!;
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  await startJob(project.ctx, jobId);
  const job = (await readJob(jobId))!;
  const frames = frameWriter(job, first.fence, project.ctx.now);
  frames.push("Too late.");
  await frames.flush();
  const reader = readerOf(job, first.fence, project.ctx.now);
  reader.push("Too late.\n\nMuch too late.\n\n");
  await reader.settled();
  const { rows } = await pool.query(
    `SELECT (SELECT count(*)::int FROM stream_frame WHERE job_id = $1) AS frames,
       (SELECT count(*)::int FROM event_text WHERE job_id = $1) AS texts`,
    [jobId],
  );
  expect(rows).toEqual([{ frames: 0, texts: 0 }]);
  const aside = await setAside({
    jobId,
    fence: first.fence,
    now: project.ctx.now(),
    next: { status: "running", leaseMs: 0 },
    attempt: answerOf(first.attemptId).attempt!,
    content: null,
    event: { type: "job.needs_attention", payload: {} },
  });
  expect(aside).toBe(false);
});

test("a worker that stops after submission began but before anything left returns the job unsubmitted", async () => {
  const project = await makeProject();
  const { jobId, started } = await takenJob(project);
  await lockedUntil(jobId, 1, () => [attempt(project.ctx, jobId, started)], {
    meanwhile: () => releaseAllLeases(0),
  });
  const given = await rowsOf(jobId);
  expect(given.job).toMatchObject({ status: "queued" });
  expect(given.attempts[0]).toMatchObject({ submission: "not_attempted" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "succeeded" });
});

test("a job that cannot be ended does not keep the sweep from ending others", async () => {
  const project = await makeProject();
  const broken = await admitted(project);
  const other = await admitted(project);
  await pool.query("UPDATE payload SET content = '{' WHERE job_id = $1", [broken]);
  project.clock.advance(DAY_MS);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(broken)).job).toMatchObject({ status: "queued" });
  expect((await rowsOf(other)).job).toMatchObject({ status: "failed", error_code: "QueueTimeout" });
});

test("a job that no one starts fails with QueueTimeout when its queue deadline passes", async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    input: QUESTION,
    execution: { executionConstraints: { queueDeadlineSeconds: 30 } },
  });
  project.clock.advance(31_000);
  expect(await startJob(project.ctx, jobId)).toBeNull();
  await jobs.sweep(project.ctx, project);
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "QueueTimeout" },
    nextAction: "retry_new",
    retry: { newKeySafe: true },
  });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
});

test("a lost wake is sent again under a new number", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  project.clock.advance(11_000);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ dispatch_number: 2, dispatch_state: "pending" });
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ dispatch_number: 2 });
});

test("the sweep cancels a canceling job whose worker is gone, and keeps its hold if it may have run", async () => {
  const project = await makeProject();
  const { jobId } = await submittedJob(project);
  await jobs.cancel(project.ctx, jobId);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "canceled" });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "ambiguous" });
});

test("a job that is taken over after its execution limit sends nothing", async () => {
  const project = await makeProject();
  const {
    jobId,
    started: { attemptId, fence },
  } = await takenJob(project);
  project.clock.advance(120_001);
  await attempt(project.ctx, jobId, { attemptId, fence });
  const { job, hold } = await rowsOf(jobId);
  expect([job.status, job.error_code, hold.state]).toEqual(["failed", "ExecutionTimeout", "released"]);
  const sent = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${attemptId}`);
  expect(await sent.json()).toMatchObject({ count: 0 });
});

test("a job whose workers keep dying before they submit is given up after its execution limit", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  await startJob(project.ctx, jobId);
  await project.pass(HOUR_MS);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "ExecutionTimeout" },
    retry: { newKeySafe: true },
  });
});
