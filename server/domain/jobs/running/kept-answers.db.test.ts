import { afterEach, expect, test, vi } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";
import { keepHandle } from "../transitions/attempt";
import { claimElsewhere, PAST_LEASE_MS, QUESTION } from "./recovery.fixture";
import { attempt } from "./run";

/*
 * The provider of a synchronous call has answered or taken the work, and the end of the call is not written.
 */

const TEXT = "text.general.fast.v1";
const REQUEST = { input: QUESTION };

afterEach(() => vi.restoreAllMocks());

/** Makes the statements of these names fail `times` times, as they do while PostgreSQL restarts. */
function refuse(names: string[], times: number) {
  const query = pool.query.bind(pool);
  const refused: string[] = [];
  vi.spyOn(pool, "query").mockImplementation(((asked: { name?: string }, ...rest: unknown[]) => {
    const name = asked?.name?.replace(/-(one|many)$/, "") ?? "";
    if (!names.includes(name) || refused.length >= times) return query(asked as never, ...(rest as []));
    refused.push(name);
    return Promise.reject(Object.assign(new Error("terminating connection"), { code: "57P01" }));
  }) as never);
  return refused;
}

async function endOf(executionId: string) {
  const { job, attempts, hold, events } = await rowsOf(executionId);
  const sent = events.filter(({ type }) => type === "job.provider_submitted");
  return { status: job.status, hold: hold.state, attempts: attempts.length, sent: sent.length };
}

test("a database failure while an answer is written delays the answer and does not lose it", async () => {
  const { ctx } = await makeProject();
  const refused = refuse(["finish", "answer"], 2);
  const { executionId, typedOutput } = await jobs.invoke(ctx, TEXT, REQUEST);
  expect(refused).toEqual(["finish", "answer"]);
  expect(typedOutput).toMatchObject({ role: "assistant" });
  expect(await endOf(executionId)).toMatchObject({ status: "succeeded", hold: "settled", attempts: 1 });
});

test("an answer that cannot be stored for longer is set aside, and a worker ends the execution with it", {
  tags: "long",
  timeout: 30_000,
}, async () => {
  const { ctx, clock, pass, projectId } = await makeProject();
  refuse(["finish", "answer"], Number.POSITIVE_INFINITY);
  const asked = jobs.invoke(ctx, TEXT, REQUEST, { idempotencyHeader: "kept-aside" });
  const fault = await asked.catch((cause) => cause);
  expect(fault).toMatchObject({
    code: "TRANSPORT_AMBIGUOUS",
    details: { executionId: expect.any(String) },
  });
  const { executionId } = fault.details;
  expect(await jobs.get(ctx, executionId)).toMatchObject({ status: "running" });
  vi.restoreAllMocks();
  await pass(10 * PAST_LEASE_MS);
  await jobs.sweep(ctx, { projectId });
  await jobs.run(ctx, executionId, inlineStep(clock));
  expect(await endOf(executionId)).toMatchObject({ status: "succeeded", hold: "settled", attempts: 1 });
  const again = await jobs.invoke(ctx, TEXT, REQUEST, { idempotencyHeader: "kept-aside" });
  expect(again).toMatchObject({ executionId, status: "succeeded", typedOutput: { role: "assistant" } });
});

test("work that a provider took for a process that died is taken over by a worker", async () => {
  const project = await makeProject();
  const { ctx, pass, projectId } = project;
  const input = { messages: [{ role: "user", content: "[slow 1000] What is a capstan?" }] };
  const answer = jobs
    .invoke(ctx, TEXT, { input, preferredModel: "sandbox-mixed" })
    .catch((cause: unknown) => cause);
  const begun = async () =>
    (await pool.query("SELECT job_id, id FROM attempt WHERE project_id = $1", [projectId])).rows;
  await expect.poll(async () => (await begun()).length).toBe(1);
  const [{ job_id: jobId, id: attemptId }] = await begun();
  const now = ctx.now();
  await keepHandle({ jobId, fence: 1, attemptId, leaseMs: 0, handle: { id: "batch_1" }, now });
  await pass(PAST_LEASE_MS);
  await jobs.sweep(ctx, { projectId });
  expect(await claimElsewhere(project, jobId)).toMatchObject({ status: "running", fence: 2 });
  await jobs.cancel(ctx, jobId);
  await attempt(ctx, jobId, { attemptId, fence: 2 });
  expect(await answer).toMatchObject({ code: "Cancelled", details: { executionId: jobId } });
});
