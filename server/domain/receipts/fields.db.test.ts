import { expect, test } from "vitest";
import type { Receipt } from "@/server/contract/receipts";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";
import { checkWhole } from "./fields.fixture";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

async function runJob(
  { ctx, clock }: TestProject,
  capability: string,
  body: Parameters<typeof jobs.submit>[2],
): Promise<Receipt> {
  const { jobId } = await jobs.submit(ctx, capability, body);
  await jobs.run(ctx, jobId, inlineStep(clock));
  return jobs.receipt(ctx, jobId);
}

test("the receipt of a succeeded execution has every field, with its route, its figures and its quote", async () => {
  const world = await makeProject();
  const quoted = await quotes.quote(world.ctx, TEXT, { input, billingMode: "managed" });
  const receipt = await runJob(world, TEXT, { input, billingMode: "managed", quoteId: quoted.quoteId });
  checkWhole(receipt);
  const { usage } = receipt;
  expect(receipt).toMatchObject({
    status: "succeeded",
    submittedBy: world.ctx.principal.id,
    settings: {
      billingMode: "managed",
      executionSeconds: expect.any(Number),
      outputTokens: expect.any(Number),
    },
    route: { provider: "sandbox", model: "sandbox-1", api: "responses" },
    routing: {
      routingPolicy: "automatic",
      selectedPlanId: "sandbox/sandbox-1",
      selectionReason: "first_eligible",
      serviceClass: "economical",
    },
    text: { finishReason: "stop", inputTokens: usage?.inputTokens, outputTokens: usage?.outputTokens },
    media: null,
    providerSubmissions: 1,
    logicalAttempts: 1,
    rewrites: [{ field: "input.maxOutputTokens", from: null, to: expect.any(Number) }],
    fallbacks: [],
    processingTier: "flex",
    requestedProcessingTier: "flex",
    processingFallback: null,
    deferredDiscountBps: 5_000,
    benchmarkContext: null,
    customerSavings: null,
    pricing: {
      quoteId: quoted.quoteId,
      pricingInputFingerprint: quoted.pricingInputFingerprint,
      quote: { expiresAt: quoted.expiresAt, pricingInputsHash: quoted.pricingInputFingerprint },
      executionPlanId: "sandbox/sandbox-1",
      presentation: null,
      service: { serviceFeeRateBps: 600 },
    },
  });
  expect(receipt.routing?.eligiblePlanIds[0]).toBe("sandbox/sandbox-1");
  // Clients treat a missing `estimateId` as the `quoteId`, so it is left out if they are the same.
  expect(receipt.pricing).not.toHaveProperty("estimateId");
});

test("the receipt of a refused execution has every field and a charge of 0", async () => {
  const receipt = await runJob(await makeProject(), TEXT, { input, preferredModel: "sandbox-refuse" });
  checkWhole(receipt);
  expect(receipt).toMatchObject({
    status: "failed",
    error: { code: "ProviderRejected" },
    attempts: [{ errorCode: "ProviderRejected" }],
    routing: { routingPolicy: "named_model", selectionReason: "preferred_model" },
    usage: null,
    text: { finishReason: null, inputTokens: null, outputTokens: null },
    outputHash: null,
    pricing: {
      charge: { customerCharge: { amountMicros: 0 }, chargedAt: null },
      serviceInferenceFeeMicros: 0,
    },
  });
});

test("the receipt of an ambiguous execution has every field, and unknown figures are null or unknown instead of zero", async () => {
  const receipt = await runJob(await makeProject(), TEXT, { input, preferredModel: "sandbox-lost" });
  checkWhole(receipt);
  expect(receipt).toMatchObject({
    status: "failed",
    providerSubmission: "ambiguous",
    providerSubmissions: 1,
    usage: null,
    actualCost: null,
    pricing: {
      charge: null,
      price: null,
      actualCharge: null,
      basisActual: null,
      customerCharge: null,
      observedUsage: null,
      customerDebitedMicros: null,
      trialCoveredMicros: null,
      providerReportedCostMicros: null,
      providerUsage: { reportedCost: null },
      providerCost: { amount: null, status: "unknown", basis: "unknown" },
    },
  });
});

test("the receipt of a canceled execution has every field and shows that no provider was called", async () => {
  const { ctx } = await makeProject();
  const { jobId } = await jobs.submit(ctx, TEXT, { input });
  await jobs.cancel(ctx, jobId);
  const receipt = await jobs.receipt(ctx, jobId);
  checkWhole(receipt);
  expect(receipt).toMatchObject({
    status: "canceled",
    timestamps: { startedAt: null },
    attempts: [],
    logicalAttempts: 0,
    providerSubmissions: 0,
    providerSubmission: "not_attempted",
  });
});

test("the receipt of local work has every field, without a route or a provider's figures", async () => {
  const { ctx } = await makeProject();
  const { executionId } = await jobs.invoke(ctx, "compute.evaluate.v1", { expression: "1 + 1" });
  const receipt = await jobs.receipt(ctx, executionId);
  checkWhole(receipt);
  expect(receipt).toMatchObject({
    route: { provider: null, model: null, api: null },
    routing: null,
    targetRouting: { policyVersion: null, resolvedTarget: null },
    text: null,
    media: null,
    usage: null,
    processingTier: null,
    deferredDiscountBps: null,
    logicalAttempts: 0,
    pricing: {
      executionPlanId: null,
      fundingSource: "none",
      customerCharge: { customerTotalMicros: 0, lineItems: [{ includedProcessing: true }] },
    },
  });
});

test.each([20_000, 1_000_000])(
  "a hint of %d output tokens is reduced to the model's limit, and the receipt tells so",
  async (asked) => {
    const world = await makeProject();
    const request = { input: { ...input, maxOutputTokens: asked } };
    const quoted = await quotes.quote(world.ctx, TEXT, request);
    expect(quoted.resolved).toMatchObject({ routeKey: "sandbox/sandbox-1" });
    const receipt = await runJob(world, TEXT, { ...request, quoteId: quoted.quoteId });
    checkWhole(receipt);
    expect(receipt).toMatchObject({
      status: "succeeded",
      settings: { outputTokens: 16_384 },
      rewrites: [{ field: "input.maxOutputTokens", from: asked, to: 16_384 }],
      pricing: { quoteId: quoted.quoteId },
    });
    const pinned = { ...request, pin: { target: "sandbox/sandbox-1" } };
    await expect(
      quotes.quote(world.ctx, TEXT, { ...request, preferredModel: "sandbox-2" }),
    ).resolves.toMatchObject({
      resolved: { model: "sandbox-2" },
    });
    await expect(runJob(world, TEXT, pinned)).rejects.toMatchObject({ code: "ROUTE_UNAVAILABLE" });
  },
);

test("the receipt of an image execution has every field, and each artifact its hash", async () => {
  const world = await makeProject();
  const receipt = await runJob(world, "image.generate.v1", {
    input: { prompt: "A kite", variantCount: 2, height: 630 },
    pin: { target: "sandbox/sandbox-1" },
  });
  checkWhole(receipt);
  expect(receipt.rewrites).toEqual([
    { field: "input.width", from: null, to: 1024 },
    { field: "input.height", from: 630, to: 640 },
    { field: "input.quality", from: null, to: "medium" },
  ]);
  expect(receipt.artifacts).toHaveLength(2);
  for (const { sha256 } of receipt.artifacts) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(receipt).toMatchObject({
    route: { api: "images" },
    routing: {
      routingPolicy: "exact_pin",
      selectionReason: "pinned",
      eligiblePlanIds: ["sandbox/sandbox-1"],
    },
    text: null,
    media: {
      requestedVariants: 2,
      images: 2,
      mediaTypes: ["image/png"],
      artifactIds: receipt.artifacts.map(({ artifactId }) => artifactId),
    },
  });
});

test("refusals for lack of capacity count as submissions of one attempt", async () => {
  const receipt = await runJob(await makeProject(), TEXT, { input, preferredModel: "sandbox-busy" });
  checkWhole(receipt);
  expect(receipt).toMatchObject({ logicalAttempts: 1, providerSubmissions: 3, capacityRejections: 2 });
});
