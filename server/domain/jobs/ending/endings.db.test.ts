import { expect, test } from "vitest";
import { end, ending, failed, unseen } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { inlineStep, makeProject, rowsOf, startJob } from "@/testing/world";
import { admitted, PAST_LEASE_MS, QUESTION, submittedJob, takenJob } from "../running/recovery.fixture";
import { attempt } from "../running/run";
import { readJob } from "../running/work";
import { keepHandle, releaseSubmission } from "../transitions/attempt";
import { leased } from "./end";
import { endingOf, toStored } from "./ending";

test("a job that waits as long as its provider asked keeps its lease and can be canceled", async () => {
  const project = await makeProject();
  const {
    jobId,
    started: { fence, attemptId },
  } = await submittedJob(project);
  expect(await releaseSubmission({ jobId, fence, attemptId, leaseMs: 90_000, capacityRejections: 1 })).toBe(
    true,
  );
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "running", fence });
  await jobs.cancel(project.ctx, jobId);
  await jobs.sweep(project.ctx, project);
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "canceled" });
  expect(rows.hold).toMatchObject({ state: "released" });
  // The refused request had been sent, and nothing ran.
  expect(await jobs.receipt(project.ctx, jobId)).toMatchObject({
    providerSubmission: "attempted",
    providerSubmissions: 1,
    capacityRejections: 1,
    attempts: [{ providerSubmission: "attempted", submissions: 0, capacityRejections: 1, answeredAt: null }],
  });
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    diagnostics: { backendState: "attempted" },
    retry: { newKeySafe: true },
  });
});

test("canceled work that the provider had taken keeps an ambiguous hold", async () => {
  const project = await makeProject();
  const {
    jobId,
    started: { fence, attemptId },
  } = await submittedJob(project);
  const now = project.ctx.now();
  await keepHandle({ jobId, fence, attemptId, leaseMs: 0, handle: { id: "batch_1" }, now });
  await jobs.cancel(project.ctx, jobId);
  await attempt(project.ctx, jobId, { attemptId, fence });
  const rows = await rowsOf(jobId);
  expect(rows.job).toMatchObject({ status: "canceled" });
  expect(rows.hold).toMatchObject({ state: "ambiguous" });
});

test("managed work that cost more than its hold is charged the hold, and the operator bears the excess", async () => {
  const project = await makeProject();
  const { jobId, started } = await takenJob(project);
  const job = (await readJob(jobId))!;
  const costMicros = job.pricing.maximumMicros + 1_000_000;
  const turn = { ctx: project.ctx, work: { job, inputHash: "" }, row: null, lease: started };
  await end(leased(turn), ending("result", { ...unseen("attempted"), costMicros }, { state: "succeeded" }));
  const { hold, ledger } = await rowsOf(jobId);
  const amountOf = (kind: string) =>
    ledger.find((entry) => "kind" in entry && entry.kind === kind)?.amount_micros ?? 0;
  expect(amountOf("charge")).toBe(-job.pricing.maximumMicros);
  expect(hold.settled_micros).toBe(job.pricing.maximumMicros);
  expect([amountOf("overrun"), amountOf("fee")]).toEqual([0, 0]);
  expect(amountOf("excess")).toBe(-1_000_000);
  const { pricing } = await jobs.receipt(project.ctx, jobId);
  expect(pricing?.providerCost?.amount?.amountMicros).toBe(costMicros);
  expect(pricing?.customerCharge?.customerTotalMicros).toBe(job.pricing.maximumMicros);
  expect(ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);
});

test("a synchronous call that waits for capacity is stored as not sent, and a cancel releases its hold", async () => {
  const project = await makeProject();
  const answer = jobs
    .invoke(project.ctx, "text.general.fast.v1", { input: QUESTION, preferredModel: "sandbox-busy" })
    .catch((cause) => cause);
  let executionId = "";
  while (!executionId) {
    const { rows } = await pool.query(
      "SELECT job_id FROM attempt WHERE project_id = $1 AND submission = 'not_attempted' AND capacity_rejections = 1",
      [project.projectId],
    );
    executionId = rows[0]?.job_id ?? "";
  }
  await jobs.cancel(project.ctx, executionId);
  expect(await answer).toMatchObject({ code: "Cancelled", details: { executionId } });
  const { job, hold, receipts } = await rowsOf(executionId);
  expect(job).toMatchObject({ status: "canceled" });
  expect(hold).toMatchObject({ state: "released" });
  expect(receipts).toHaveLength(1);
});

test("a queued job is canceled at once, and canceling it again returns the canceled job", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  expect(await jobs.cancel(project.ctx, jobId)).toMatchObject({
    status: "canceled",
    nextAction: "stop",
    retry: { newKeySafe: true },
  });
  expect(await jobs.cancel(project.ctx, jobId)).toMatchObject({ status: "canceled" });
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "canceled" });
});

test("a succeeded job cannot be canceled", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  await expect(jobs.cancel(project.ctx, jobId)).rejects.toMatchObject({ code: "JobNotCancelable" });
});

test("a cancel before submission stops the job, and its worker sends nothing", async () => {
  const project = await makeProject();
  const jobId = await admitted(project);
  const started = await startJob(project.ctx, jobId);
  expect(await jobs.cancel(project.ctx, jobId)).toMatchObject({ status: "canceling", nextAction: "poll" });
  await attempt(project.ctx, jobId, started!);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "canceled" });
  expect((await rowsOf(jobId)).attempts[0]).toMatchObject({ submission: "not_attempted" });
});

const STORED = {
  outcome: "failed",
  code: "PROVIDER_ERROR",
  message: "No.",
  settlement: "cost",
  finishReason: "length",
  unknownFinish: "tired",
  estimated: "partial",
  tier: "flex",
  submissions: 2,
  details: { retryAfterSeconds: 5 },
  media: { durationMs: 1 },
  unprocessed: true,
  isSetAside: true,
} as const;

test("an ending is read back from its attempt as it was stored, by this version and by 0.2.0", async () => {
  const project = await makeProject();
  const { jobId } = await takenJob(project);
  const { rows } = await pool.query(
    "UPDATE attempt SET answer = $2, submission = 'attempted', cost_micros = 7 WHERE job_id = $1 RETURNING *",
    [jobId, STORED],
  );
  const read = endingOf(rows[0]);
  expect(read).toMatchObject({ state: "failed", code: "PROVIDER_ERROR", settlement: "cost" });
  expect(read.observed).toMatchObject({
    ...{ submission: "attempted", costMicros: 7, tier: "flex", submissions: 2, estimated: "partial" },
  });
  expect(toStored(read)).toEqual(STORED);
  // Version 0.2.0 stored only these members if there was nothing to add.
  const least = {
    outcome: "succeeded",
    code: null,
    message: null,
    settlement: "hold",
    finishReason: null,
  } as const;
  expect(toStored(endingOf({ ...rows[0], answer: least }))).toEqual(least);
});

test("the stored ending of an attempt contains neither content nor the provider's message", () => {
  const failure = failed("error", "No.", unseen("attempted"), { said: { status: 500, code: "busy" } });
  expect(toStored({ ...failure, partial: { role: "assistant", content: "Half" } } as never)).toEqual({
    outcome: "failed",
    code: "PROVIDER_ERROR",
    message: "No.",
    settlement: "exposed",
    finishReason: null,
  });
});
