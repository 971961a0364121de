import { beforeAll, expect, test, vi } from "vitest";
import { artifactStore } from "@/server/domain/artifacts";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { StoreOutage } from "@/server/platform/errors/outage";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { makePerson } from "@/testing/tenants";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";

const PICTURE = { prompt: "A quiet harbour", width: 816, height: 816, variantCount: 2 };

type Stuck = { project: TestProject; jobId: string; operator: Ctx };

/** Image jobs whose files could not be stored because the artifact store was down; each use takes one. */
const prepared: Stuck[] = [];
const storeIsDown = () => vi.spyOn(artifactStore(), "put").mockRejectedValue(new Error("the store is down"));

beforeAll(async () => {
  const down = storeIsDown();
  await Promise.all(
    Array.from({ length: 7 }, async () => {
      const project = await makeProject();
      const { jobId } = await jobs.submit(project.ctx, "image.generate.v1", PICTURE);
      await jobs.run(project.ctx, jobId, inlineStep(project.clock));
      prepared.push({ project, jobId, operator: systemCtx("operator", project.clock.now) });
    }),
  );
  down.mockRestore();
}, 60_000);

const stuck = (): Stuck => prepared.pop() ?? expect.fail("prepare one more");

const outage = () => vi.spyOn(artifactStore(), "put").mockRejectedValue(new StoreOutage("no answer"));

/** Runs a job while its store is unreachable, for this many turns, and returns the waits between them. */
async function turnsOf(project: TestProject, jobId: string, turns: number): Promise<number[]> {
  const waits: number[] = [];
  const step = inlineStep(project.clock);
  const run = jobs.run(project.ctx, jobId, {
    ...step,
    sleep: async (name, ms) => {
      waits.push(ms);
      if (waits.length === turns) throw new Error("the worker died");
      await step.sleep(name, ms);
    },
  });
  await expect(run).rejects.toThrow("the worker died");
  return waits;
}

test("an unreachable store is retried automatically, without an operator and without another submission", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, "image.generate.v1", PICTURE);
  const down = outage();
  await turnsOf(project, jobId, 6);
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "running", nextAction: "poll" });
  const { rows } = await pool.query(
    "SELECT content FROM payload WHERE job_id = $1 AND kind = 'answer' AND is_sealed",
    [jobId],
  );
  expect(rows).toEqual([{ content: expect.stringMatching(/^v1\./) }]);
  down.mockRestore();
  // The worker that waited is gone, so the next worker continues from the kept answer.
  await project.pass(HOUR_MS);
  await jobs.sweep(project.ctx, project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "succeeded",
    variantSet: { completedCount: 2 },
  });
  const { attempts, events, hold } = await rowsOf(jobId);
  expect(attempts).toHaveLength(1);
  expect(hold).toMatchObject({ state: "settled" });
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type === "job.provider_submitted")).toHaveLength(1);
  expect(types.filter((type) => type === "job.retry_scheduled")).toHaveLength(1);
  expect(types).not.toContain("job.needs_attention");
});

test("a store unreachable for half an hour needs an operator, and a cancel before that charges the work", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const [{ jobId }, canceled] = [
    await jobs.submit(project.ctx, "image.generate.v1", PICTURE),
    await jobs.submit(project.ctx, "image.generate.v1", PICTURE),
  ];
  const down = outage();
  const begun = project.clock.now().getTime();
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ status: "needs_attention" });
  expect(project.clock.now().getTime() - begun).toBeGreaterThanOrEqual(30 * 60_000);
  await turnsOf(project, canceled.jobId, 2);
  expect((await jobs.cancel(project.ctx, canceled.jobId)).status).toBe("canceling");
  await project.pass(HOUR_MS);
  await jobs.sweep(project.ctx, project);
  expect(await jobs.get(project.ctx, canceled.jobId)).toMatchObject({
    status: "canceled",
    actualCost: expect.any(Number),
  });
  expect((await rowsOf(canceled.jobId)).hold).toMatchObject({ state: "settled" });
  down.mockRestore();
  const operator = systemCtx("operator", project.clock.now);
  await jobs.retryStep(operator, jobId);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect((await jobs.get(project.ctx, jobId)).status).toBe("succeeded");
});

test("files that were not processed while the store was unreachable are processed automatically", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const store = artifactStore();
  const put = store.put.bind(store);
  const sheet = { prompt: "Things", sheet: { rows: 2, columns: 2, slice: true } };
  const { jobId } = await jobs.submit(project.ctx, "image.generate.v1", { input: sheet });
  // The sheet is stored; its cells are not.
  const down = outage().mockImplementationOnce(put);
  await turnsOf(project, jobId, 2);
  expect((await jobs.get(project.ctx, jobId)).status).toBe("running");
  const { rows } = await pool.query("SELECT slot_status FROM job_artifact WHERE job_id = $1", [jobId]);
  expect(rows).toEqual([{ slot_status: "unprocessed" }]);
  down.mockRestore();
  await project.pass(HOUR_MS);
  await jobs.sweep(project.ctx, project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const { status, artifacts } = await jobs.get(project.ctx, jobId);
  expect(status).toBe("succeeded");
  expect(artifacts.map(({ slotStatus }) => slotStatus)).not.toContain("unprocessed");
  const { attempts } = await rowsOf(jobId);
  expect(attempts).toHaveLength(1);
});

test("a paid result that cannot be stored is kept sealed and waits for an operator", async () => {
  const { project, jobId, operator } = stuck();
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "needs_attention",
    nextAction: "inspect_error",
    pollAfterSeconds: null,
    error: { code: "needs_attention", retryable: false, terminal: true },
    retry: { newKeySafe: false },
    typedOutput: null,
  });
  const { job, hold, events } = await rowsOf(jobId);
  expect(job.attention).toMatchObject({ reason: "output_not_stored", step: "store_output" });
  expect(hold).toMatchObject({ state: "open" });
  expect(events.at(-1)).toMatchObject({ type: "job.needs_attention" });
  const { rows } = await pool.query("SELECT content, is_sealed FROM payload WHERE id = $1", [
    job.attention.answerId,
  ]);
  expect(rows[0]).toMatchObject({ is_sealed: true, content: expect.stringMatching(/^v1\./) });
  const listed = (await jobs.listAttention(operator)).find((each) => each.jobId === jobId);
  expect(listed).toMatchObject({
    projectId: project.projectId,
    capabilityKey: "image.generate.v1",
    reason: "output_not_stored",
    step: "store_output",
    isAnswerKept: true,
    providerCost: expect.any(Number),
  });
});

test("a retry of the step ends the job with the paid result, and nothing is sent again", async () => {
  const { project, jobId, operator } = stuck();
  const down = storeIsDown();
  // While the store is down, a retry adds only events.
  expect((await jobs.retryStep(operator, jobId)).status).toBe("running");
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect((await jobs.get(project.ctx, jobId)).status).toBe("needs_attention");

  down.mockRestore();
  project.clock.advance(DAY_MS); // the execution limit does not count the operator's time
  await jobs.retryStep(operator, jobId);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  const job = await jobs.get(project.ctx, jobId);
  expect(job).toMatchObject({
    status: "succeeded",
    variantSet: { completedCount: 2 },
    actualCost: expect.any(Number),
  });
  for (const { artifactId } of job.artifacts) await jobs.artifact(project.ctx, jobId, artifactId);
  const { attempts, events, hold } = await rowsOf(jobId);
  expect(attempts).toHaveLength(1);
  expect(hold).toMatchObject({ state: "settled" });
  expect(events.filter(({ type }) => type === "job.provider_submitted")).toHaveLength(1);
  const { rows } = await pool.query("SELECT content FROM payload WHERE job_id = $1 AND kind = 'answer'", [
    jobId,
  ]);
  expect(rows).toEqual([{ content: null }]);
});

test("accepting succeeds without the files, failing or canceling ends the job, and each charges the cost once", {
  tags: "long",
}, async () => {
  for (const [end, wanted] of [
    [
      jobs.acceptAsIs,
      { status: "succeeded", artifacts: [], variantSet: { completedCount: 0, failedCount: 2 } },
    ],
    [
      jobs.failWaiting,
      {
        status: "failed",
        error: { code: "failed" },
        nextAction: "inspect_error",
        retry: { newKeySafe: false },
        variantSet: { completedCount: 0, failedCount: 2 },
      },
    ],
    [
      jobs.cancel,
      {
        status: "canceled",
        nextAction: "stop",
        retry: { newKeySafe: false },
        variantSet: { completedCount: 0, failedCount: 0 },
      },
    ],
  ] as const) {
    const { project, jobId, operator } = stuck();
    expect(await end(operator, jobId)).toMatchObject(wanted);
    const { hold, ledger, receipts } = await rowsOf(jobId);
    expect(hold).toMatchObject({ state: "settled" });
    expect(receipts).toHaveLength(1);
    expect(ledger.reduce((sum, entry) => sum + Math.max(0, entry.amount_micros), 0)).toBe(
      hold.settled_micros,
    );
    expect((await jobs.get(project.ctx, jobId)).actualCost).toBeGreaterThan(0);
    await expect(jobs.retryStep(operator, jobId)).rejects.toMatchObject({ code: "JobNotInAttention" });
  }
});

test("a job whose answer has no content can be neither retried nor accepted, but can be failed", async () => {
  const { jobId, operator } = stuck();
  await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1 AND kind = 'answer'", [jobId]);
  await expect(jobs.retryStep(operator, jobId)).rejects.toMatchObject({ code: "RetryNotSafe" });
  await expect(jobs.acceptAsIs(operator, jobId)).rejects.toMatchObject({ code: "RetryNotSafe" });
  expect((await jobs.failWaiting(operator, jobId)).status).toBe("failed");
});

test("neither the project's key nor an owner may resolve a job in attention, and the owner may not list such jobs", async () => {
  const { project, jobId } = stuck();
  const owner = await makePerson(project.organizationId, "owner");
  for (const work of [jobs.retryStep, jobs.acceptAsIs, jobs.failWaiting]) {
    await expect(work(project.ctx, jobId)).rejects.toMatchObject({ code: "AuthorizationFailed" });
    await expect(work(owner.ctx, jobId)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  }
  await expect(jobs.listAttention(owner.ctx)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  expect(await jobs.rights(owner.ctx, jobId)).toMatchObject({ operate: false, cancel: true });
});
