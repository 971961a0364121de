import { expect, test } from "vitest";
import { Receipt } from "@/server/contract/receipts";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";

const messages = [{ role: "user", content: "How deep is the sea?" }];
const TEXT = "text.general.fast.v1";

async function runJob(
  { ctx, clock }: TestProject,
  capability: string,
  body: Parameters<typeof jobs.submit>[2],
) {
  const { jobId } = await jobs.submit(ctx, capability, body);
  await jobs.run(ctx, jobId, inlineStep(clock));
  return jobs.receipt(ctx, jobId);
}

/** Computes the hash as any reader can: of the receipt in canonical form, without its hash and signature. */
function hashAgain(receipt: Receipt): string {
  const { provenance, signature: _signature, ...rest } = JSON.parse(JSON.stringify(receipt));
  const { receiptHash: _hash, ...sealed } = provenance;
  return sha256Hex(canonicalText({ ...rest, provenance: sealed } as Json));
}

test("a receipt's hash can be computed again from the receipt, and a changed status alters it", async () => {
  const world = await makeProject();
  const receipts = [
    await runJob(world, TEXT, { input: { messages }, metadata: { b: 1, a: "é" }, tags: ["x"] }),
    await runJob(world, TEXT, { input: { messages }, preferredModel: "sandbox-lost" }),
    await runJob(world, "image.generate.v1", { input: { prompt: "A kite", variantCount: 2 } }),
    await jobs.receipt(
      world.ctx,
      (await jobs.invoke(world.ctx, "compute.evaluate.v1", { expression: "2 ^ 0.5" })).executionId,
    ),
  ];
  for (const receipt of receipts) {
    const { receiptHash } = receipt.provenance as { receiptHash: string };
    expect(receiptHash).toMatch(/^[0-9a-f]{64}$/);
    expect(hashAgain(receipt)).toBe(receiptHash);
    expect(hashAgain({ ...receipt, status: "canceled" })).not.toBe(receiptHash);
    expect(Receipt.parse(receipt)).toEqual(receipt);
    const { rows } = await pool.query("SELECT body, hash FROM receipt WHERE id = $1", [receipt.receiptId]);
    expect(rows[0]).toMatchObject({ hash: receiptHash });
    expect(sha256Hex(rows[0].body)).toBe(receiptHash);
  }
});

test("a receipt cannot be changed or removed", async () => {
  const receipt = await runJob(await makeProject(), TEXT, { input: { messages } });
  await expect(
    pool.query("UPDATE receipt SET body = '{}' WHERE id = $1", [receipt.receiptId]),
  ).rejects.toThrow();
  await expect(pool.query("DELETE FROM receipt WHERE id = $1", [receipt.receiptId])).rejects.toThrow();
});

test("a receipt shows the caller, the request and its labels, the route, the attempts and the hashes", async () => {
  const world = await makeProject();
  const receipt = await runJob(world, TEXT, {
    input: { messages },
    context: { productId: "shop", dataClassification: "Public", retentionRequirement: "ProductManaged" },
    externalRef: "order-1",
    tags: ["a", "b"],
    metadata: { deep: { er: [1] } },
    correlationId: "c-1",
    taskKind: "answer",
  });
  const { principal } = world.ctx;
  expect(receipt).toMatchObject({
    schemaVersion: "service.receipt.v1",
    receiptId: receipt.jobId.replace("wfr_", "rcpt_"),
    capabilityKey: TEXT,
    status: "succeeded",
    principalId: principal.id,
    principalKind: "service_principal",
    organizationId: world.organizationId,
    projectId: world.projectId,
    productId: "shop",
    environment: "development",
    externalRef: "order-1",
    tags: ["a", "b"],
    metadata: { deep: { er: [1] } },
    correlationId: "c-1",
    taskKind: "answer",
    dataClassification: "Public",
    retentionRequirement: "ProductManaged",
    admission: { admitted: true },
    route: { provider: "sandbox", model: "sandbox-1" },
    targetRouting: { requestedTarget: null, resolvedTarget: "sandbox/sandbox-1", substituted: false },
    providerSubmission: "attempted",
    processingTier: "flex",
    provenance: { execution: "provider", providerBacked: true, modelBacked: true, deterministic: false },
    attempts: [{ number: 1, providerSubmission: "attempted", httpStatus: 200, providerModel: "sandbox-1" }],
    error: null,
    isTest: true,
  });
  expect(receipt.requestHash).toMatch(/^[0-9a-f]{64}$/);
  expect(receipt.inputHash).toBe(sha256Hex(canonicalText({ messages })));
  const result = await jobs.result(world.ctx, receipt.jobId);
  expect(receipt.outputHash).toBe(sha256Hex(canonicalText(result.typedOutput as Json)));
});

test("a receipt holds hashes and figures, never the content", async () => {
  const world = await makeProject();
  const secret = "a phrase no one else would write";
  const receipt = await runJob(world, TEXT, { input: { messages: [{ role: "user", content: secret }] } });
  const { typedOutput } = await jobs.result(world.ctx, receipt.jobId);
  const text = JSON.stringify(receipt);
  expect(text).not.toContain(secret);
  expect(text).not.toContain((typedOutput as { content: string }).content);
});

test("an input has the same hash in every kind of execution", async () => {
  const world = await makeProject();
  const durable = await runJob(world, TEXT, { input: { messages } });
  const { executionId } = await jobs.invoke(world.ctx, TEXT, { input: { messages } });
  const canceled = await jobs.submit(world.ctx, TEXT, { input: { messages } });
  await jobs.cancel(world.ctx, canceled.jobId);
  for (const jobId of [executionId, canceled.jobId]) {
    expect((await jobs.receipt(world.ctx, jobId)).inputHash).toBe(durable.inputHash);
  }
});

test("a receipt names the model that was requested, and marks any other model as a substitute", async () => {
  const world = await makeProject();
  const routing = async (body: Parameters<typeof jobs.submit>[2]) =>
    (await runJob(world, TEXT, { input: { messages }, ...body })).targetRouting;
  expect(await routing({ pin: { target: "sandbox/sandbox-2" } })).toEqual({
    profile: null,
    policyVersion: expect.stringMatching(/^routing_/),
    requestedTarget: "sandbox/sandbox-2",
    resolvedTarget: "sandbox/sandbox-2",
    substituted: false,
  });
  expect(await routing({ preferredModel: "sandbox-2" })).toMatchObject({
    requestedTarget: "sandbox-2",
    substituted: false,
  });
  expect(await routing({ preferredModel: "gone-1", autoSelect: true })).toEqual({
    profile: null,
    policyVersion: expect.stringMatching(/^routing_/),
    requestedTarget: "gone-1",
    resolvedTarget: "sandbox/sandbox-1",
    substituted: true,
  });
});

test("a cost that no one observed is null instead of zero, and a failure is charged nothing", async () => {
  const world = await makeProject();
  const failed = await runJob(world, TEXT, { input: { messages }, preferredModel: "sandbox-fail" });
  expect(failed).toMatchObject({
    status: "failed",
    error: { code: "PROVIDER_ERROR" },
    usage: null,
    media: null,
    outputHash: null,
    pricing: {
      providerCost: { amount: null, status: "unknown", basis: "unknown" },
      basisActual: null,
      customerCharge: null,
    },
  });
  expect(failed.pricing?.charge?.customerCharge.amountMicros).toBe(0);
  const lost = await runJob(world, TEXT, { input: { messages }, preferredModel: "sandbox-lost" });
  expect(lost).toMatchObject({
    status: "failed",
    providerSubmission: "ambiguous",
    actualCost: null,
    holdState: "ambiguous",
    pricing: { providerCost: { amount: null, status: "unknown" }, charge: null, actualCharge: null },
  });
});

test("an observed cost is the list price of the usage on the tier that ran, with the fee added once", async () => {
  const receipt = await runJob(await makeProject(), TEXT, { input: { messages }, billingMode: "managed" });
  const usage = receipt.usage as { inputTokens: number; outputTokens: number };
  const list = usage.inputTokens * 150_000 + usage.outputTokens * 600_000;
  const upstream = Math.ceil(list / 2 / 1_000_000); // durable text is deferred, which halves the token rates
  const fee = Math.round(upstream * 0.06);
  expect(receipt).toMatchObject({
    actualCost: (upstream + fee) / 1_000_000,
    pricing: {
      providerCost: { amount: { amountMicros: upstream }, status: "computed", basis: "list_price" },
      basisActual: { amountMicros: upstream },
      customerCharge: {
        upstreamMicros: upstream,
        serviceFeeMicros: fee,
        customerTotalMicros: upstream + fee,
      },
      charge: { customerCharge: { amountMicros: upstream + fee }, customerDebit: { amountMicros: 0 } },
      actualCharge: { amountMicros: upstream + fee },
      providerUsage: { costBearer: "none" },
      fundingSource: "sandbox",
      policy: { serviceFeeBps: 600, pricingMode: "managed" },
    },
  });
});

test("an execution on the caller's own account owes 0 and shows the list price as the provider's cost", async () => {
  const receipt = await runJob(await makeProject(), TEXT, { input: { messages }, billingMode: "byok" });
  const zero = { amountMicros: 0 };
  expect(receipt).toMatchObject({
    actualCost: 0,
    pricing: {
      mode: "byok",
      chargeState: "byok",
      policy: { serviceFeeBps: 0, pricingMode: "byok" },
      charge: { customerCharge: zero, customerDebit: zero, chargedAt: null },
      customerCharge: { upstreamMicros: 0, serviceFeeMicros: 0, customerTotalMicros: 0 },
      actualCharge: zero,
      price: zero,
      customerDebitedMicros: 0,
      serviceInferenceFeeMicros: 0,
      providerCost: { status: "computed", basis: "list_price" },
    },
  });
  const { basisActual, providerCost, quote } = receipt.pricing;
  expect(providerCost?.amount?.amountMicros).toBeGreaterThan(0);
  expect(basisActual).toEqual(providerCost?.amount);
  expect(quote?.customerTotal?.amountMicros).toBeGreaterThan(0);
});

test("an execution that never reached its provider is shown as not attempted and costs nothing", async () => {
  const { ctx } = await makeProject();
  const { jobId } = await jobs.submit(ctx, TEXT, { input: { messages } });
  await jobs.cancel(ctx, jobId);
  expect(await jobs.receipt(ctx, jobId)).toMatchObject({
    status: "canceled",
    providerSubmission: "not_attempted",
    attempts: [],
    usage: null,
    media: null,
    outputHash: null,
    holdState: "released",
    actualCost: 0,
  });
});

test("a receipt of local work names its engine and no provider", async () => {
  const { ctx } = await makeProject();
  const { executionId } = await jobs.invoke(ctx, "compute.evaluate.v1", { expression: "1 + 1" });
  expect(await jobs.receipt(ctx, executionId)).toMatchObject({
    route: { provider: null, model: null },
    provenance: { execution: "local", engine: expect.stringContaining("decimal"), deterministic: true },
    holdState: null,
    processingTier: null,
    pricing: { fundingSource: "none", providerUsage: { costBearer: "none" } },
  });
});

test("a job in any unfinished status has no receipt", async () => {
  const { ctx } = await makeProject();
  const { jobId } = await jobs.submit(ctx, TEXT, { input: { messages } });
  for (const status of ["queued", "running", "awaiting_approval", "canceling", "needs_attention"]) {
    await pool.query("UPDATE job SET status = $2::text WHERE id = $1", [jobId, status]);
    await expect(jobs.receipt(ctx, jobId)).rejects.toMatchObject({
      code: "JobNotFinished",
      row: { status: 409, retryable: true },
      details: { status },
    });
  }
});
