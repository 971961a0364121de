/** @module-tag long */
import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { runJobKilledAt } from "@/testing/processes";
import { inlineStep, makeProject, rowsOf, startJob, type TestProject } from "@/testing/world";
import { beginSubmission } from "../transitions/attempt";
import { attempt } from "./run";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const PAST_LEASE_MS = 60_000;

/** The tiers of the requests that reached the sandbox under the one attempt of a job. */
async function arrivedOf(jobId: string) {
  const { attempts } = await rowsOf(jobId);
  expect(attempts).toHaveLength(1);
  const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${attempts[0].id}`);
  const { submissions, refusals } = (await answer.json()) as Record<string, { tier: string }[]>; // the sandbox's report
  const tiers = (list: { tier: string }[] = []) => list.map(({ tier }) => tier);
  return { taken: tiers(submissions), refused: tiers(refusals) };
}

async function submittedTiers(jobId: string) {
  const { rows } = await pool.query<{ tier: string }>(
    "SELECT payload->>'tier' AS tier FROM job_event WHERE job_id = $1 AND type = 'job.provider_submitted' ORDER BY id",
    [jobId],
  );
  return rows.map(({ tier }) => tier);
}

async function runJob({ ctx, clock }: TestProject, body: Partial<Parameters<typeof jobs.submit>[2]>) {
  const { jobId } = await jobs.submit(ctx, TEXT, { input, ...body });
  await jobs.run(ctx, jobId, inlineStep(clock));
  return { jobId, job: await jobs.get(ctx, jobId), receipt: await jobs.receipt(ctx, jobId) };
}

/**
 * The price of sandbox models, in micros: 0.15 dollars per million input tokens and 0.60 per million output
 * tokens.
 */
function listPrice(usage: unknown, discountBps = 0) {
  const { inputTokens, outputTokens } = usage as Record<"inputTokens" | "outputTokens", number>;
  return Math.ceil(
    ((inputTokens * 150_000 + outputTokens * 600_000) * (10_000 - discountBps)) / 10_000 / 1_000_000,
  );
}
const withFee = (micros: number) => micros + Math.floor((micros * 600 + 5_000) / 10_000);

/** The answer is long enough for half of its price to be another number of micros. */
const long = {
  input: { messages: [{ role: "user", content: "Tell me of the sea in 40 sentences, please." }] },
};

test("a durable text job runs deferred at half the token price, with the fee on the charge and the hold at standard", async () => {
  const world = await makeProject();
  const quoted = await quotes.quote(world.ctx, TEXT, { ...long, billingMode: "managed" });
  const { jobId, job, receipt } = await runJob(world, { ...long, billingMode: "managed" });
  expect(await arrivedOf(jobId)).toEqual({ taken: ["flex"], refused: [] });
  expect(await submittedTiers(jobId)).toEqual(["flex"]);
  const upstream = listPrice(receipt.usage, 5_000);
  expect(upstream).toBeLessThan(listPrice(receipt.usage));
  expect(receipt).toMatchObject({
    processingTier: "flex",
    requestedProcessingTier: "flex",
    processingFallback: null,
    fallbacks: [],
    deferredDiscountBps: 5_000,
    providerSubmissions: 1,
    routing: { serviceClass: "economical" },
    attempts: [{ tier: "flex", tierRefusal: null }],
    pricing: {
      discountedUpstreamBasisMicros: upstream,
      basisActual: { amountMicros: upstream },
      customerCharge: { upstreamMicros: upstream, customerTotalMicros: withFee(upstream) },
      charge: { customerCharge: { amountMicros: withFee(upstream) } },
      policy: { serviceFeeBps: 600 },
    },
  });
  expect(job).toMatchObject({ processing: "deferred", actualCost: upstream / 1_000_000 });
  const { hold } = await rowsOf(jobId);
  expect(hold).toMatchObject({
    amount_micros: quoted.maximumAuthorizedCharge?.amountMicros,
    settled_micros: withFee(upstream),
  });
  expect(quoted.expectedCharge?.amountMicros).toBeLessThan(hold.amount_micros);
});

test("a synchronous invoke, a stream and partial output run at the standard tier", async () => {
  const world = await makeProject();
  const { executionId } = await jobs.invoke(world.ctx, TEXT, { input });
  const streamed = await jobs.invoke(world.ctx, TEXT, { input, executionMode: "Stream" });
  await expect
    .poll(async () => (await jobs.get(world.ctx, streamed.executionId)).status, { timeout: 10_000 })
    .toBe("succeeded");
  const followed = await runJob(world, { readerDelivery: { boundary: "paragraph" } });
  for (const jobId of [executionId, streamed.executionId, followed.jobId]) {
    const receipt = await jobs.receipt(world.ctx, jobId);
    expect(receipt).toMatchObject({
      status: "succeeded",
      processingTier: "standard",
      requestedProcessingTier: "standard",
      deferredDiscountBps: 0,
      routing: { serviceClass: "standard" },
      pricing: {
        discountedUpstreamBasisMicros: null,
        basisActual: { amountMicros: listPrice(receipt.usage) },
      },
    });
    expect(await arrivedOf(jobId)).toEqual({ taken: ["standard"], refused: [] });
    expect(await submittedTiers(jobId)).toEqual(["standard"]);
  }
});

test("a model without the tier and an image job run at the standard tier", async () => {
  const world = await makeProject();
  const { receipt } = await runJob(world, { preferredModel: "sandbox-empty" });
  expect(receipt).toMatchObject({ processingTier: "standard", requestedProcessingTier: "standard" });
  const { jobId } = await jobs.submit(world.ctx, "image.generate.v1", { input: { prompt: "A kite" } });
  await jobs.run(world.ctx, jobId, inlineStep(world.clock));
  expect(await jobs.receipt(world.ctx, jobId)).toMatchObject({
    processingTier: "standard",
    deferredDiscountBps: 0,
  });
});

test("a tier without capacity is tried again until it has capacity, without a fallback", async () => {
  const { jobId, receipt } = await runJob(await makeProject(), {
    ...long,
    preferredModel: "sandbox-flexbusy",
  });
  expect(await arrivedOf(jobId)).toEqual({ taken: ["flex"], refused: ["flex", "flex"] });
  expect(receipt).toMatchObject({
    status: "succeeded",
    processingTier: "flex",
    processingFallback: null,
    capacityRejections: 2,
    providerSubmissions: 3,
    pricing: { basisActual: { amountMicros: listPrice(receipt.usage, 5_000) } },
  });
});

test("a refused tier falls back to standard once, at standard rates, and the receipt says so", async () => {
  const { jobId, receipt } = await runJob(await makeProject(), {
    ...long,
    preferredModel: "sandbox-flexless",
  });
  expect(await arrivedOf(jobId)).toEqual({ taken: ["standard"], refused: ["flex"] });
  expect(await submittedTiers(jobId)).toEqual(["flex", "standard"]);
  expect(receipt).toMatchObject({
    status: "succeeded",
    processingTier: "standard",
    requestedProcessingTier: "flex",
    processingFallback: { from: "flex", to: "standard", reason: "refused" },
    fallbacks: ["processing:flex->standard"],
    deferredDiscountBps: 0,
    providerSubmissions: 2,
    logicalAttempts: 1,
    routing: { serviceClass: "standard" },
    attempts: [
      {
        tier: "standard",
        httpStatus: 200,
        tierRefusal: {
          tier: "flex",
          httpStatus: 400,
          message: "This sandbox model does not support this tier. (HTTP 400)",
        },
      },
    ],
    pricing: {
      discountedUpstreamBasisMicros: null,
      basisActual: { amountMicros: listPrice(receipt.usage) },
      charge: { customerCharge: { amountMicros: withFee(listPrice(receipt.usage)) } },
    },
  });
});

test("a call that the provider accepts as flex but serves as standard is charged at standard", async () => {
  const { jobId, receipt } = await runJob(await makeProject(), {
    ...long,
    preferredModel: "sandbox-flexquiet",
  });
  expect(await arrivedOf(jobId)).toEqual({ taken: ["flex"], refused: [] });
  expect(receipt).toMatchObject({
    processingTier: "standard",
    requestedProcessingTier: "flex",
    processingFallback: { reason: "served_standard" },
    deferredDiscountBps: 0,
    providerSubmissions: 1,
    pricing: { basisActual: { amountMicros: listPrice(receipt.usage) } },
  });
});

test("a request that standard refuses as well fails after two submissions, costs nothing, and a new key is safe", async () => {
  const impossible = {
    type: "object",
    properties: { a: { type: "integer", minimum: 2, maximum: 1 } },
    required: ["a"],
  };
  const { jobId, job, receipt } = await runJob(await makeProject(), { responseSchema: impossible });
  expect(await arrivedOf(jobId)).toEqual({ taken: [], refused: ["flex", "standard"] });
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "ProviderRejected" },
    retry: { newKeySafe: true },
  });
  expect(receipt).toMatchObject({ holdState: "released", providerSubmissions: 2, actualCost: 0 });
});

/** Returns a job whose worker has just recorded that its tier was refused. */
async function refusedOnce(project: TestProject) {
  const { jobId } = await jobs.submit(project.ctx, TEXT, { input, preferredModel: "sandbox-flexless" });
  const started = await startJob(project.ctx, jobId);
  expect(await attempt(project.ctx, jobId, started!)).toMatchObject({ state: "again" });
  return { jobId, started: started! };
}

test("a worker that dies between the refusal and the second request loses nothing, and no third request is sent", async () => {
  const project = await makeProject();
  const { jobId } = await refusedOnce(project);
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect((await rowsOf(jobId)).job).toMatchObject({ status: "queued" });
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await arrivedOf(jobId)).toEqual({ taken: ["standard"], refused: ["flex"] });
  expect(await jobs.receipt(project.ctx, jobId)).toMatchObject({
    status: "succeeded",
    providerSubmissions: 2,
    processingFallback: { reason: "refused" },
  });
});

test("a worker killed between the refusal and the second request leaves enough for another one to send that request", async () => {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, TEXT, { input, preferredModel: "sandbox-flexless" });
  expect(await runJobKilledAt(jobId, "after-tier-refusal")).toBe("SIGKILL");
  expect(await arrivedOf(jobId)).toEqual({ taken: [], refused: ["flex"] });
  expect((await rowsOf(jobId)).attempts[0]).toMatchObject({
    submission: "not_attempted",
    tier_refusal: { tier: "flex", httpStatus: 400 },
  });
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await arrivedOf(jobId)).toEqual({ taken: ["standard"], refused: ["flex"] });
  expect(await submittedTiers(jobId)).toEqual(["flex", "standard"]);
  expect(await jobs.receipt(project.ctx, jobId)).toMatchObject({
    status: "succeeded",
    providerSubmissions: 2,
  });
});

test("a worker that dies after the second request began leaves an ambiguous job, and no third request is sent", async () => {
  const project = await makeProject();
  const { jobId, started } = await refusedOnce(project);
  await beginSubmission({ jobId, ...started, tier: "standard", now: project.ctx.now() });
  await project.pass(PAST_LEASE_MS);
  await jobs.sweep(project.ctx, project);
  expect(await arrivedOf(jobId)).toEqual({ taken: [], refused: ["flex"] });
  expect(await jobs.receipt(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "TRANSPORT_AMBIGUOUS" },
    holdState: "ambiguous",
    providerSubmissions: 2,
    processingTier: "standard",
    deferredDiscountBps: 0,
    routing: { serviceClass: "standard" },
    attempts: [{ tier: "standard", tierRefusal: { tier: "flex" } }],
  });
});

test("a worker that read the attempt before its tier was refused cannot ask for that tier again", async () => {
  const project = await makeProject();
  const { jobId, started } = await refusedOnce(project);
  const now = project.ctx.now();
  expect(await beginSubmission({ jobId, ...started, tier: "flex", now })).toBe(false);
  expect(await beginSubmission({ jobId, ...started, tier: "standard", now })).toBe(true);
});

test("a cancel between the refusal and the second request wins: nothing more is sent, nothing is charged", async () => {
  const project = await makeProject();
  const { jobId, started } = await refusedOnce(project);
  await jobs.cancel(project.ctx, jobId);
  await attempt(project.ctx, jobId, started);
  expect(await arrivedOf(jobId)).toEqual({ taken: [], refused: ["flex"] });
  expect(await jobs.receipt(project.ctx, jobId)).toMatchObject({
    status: "canceled",
    holdState: "released",
    providerSubmissions: 1,
    processingTier: "flex",
    deferredDiscountBps: 0,
    actualCost: 0,
  });
});
