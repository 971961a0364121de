import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { setSettings } from "@/testing/settings";

// The provider reads this setting when it loads.
vi.hoisted(() => {
  process.env.OPENAI_COMPATIBLE_MODELS = "priced:1000:2000";
});

import * as jobs from "@/server/domain/jobs";
import { quote } from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";

/*
 * These receipts are of work over real accounts. They show where the money came from and what the provider reports as
 * its cost.
 */

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "Hi" }], maxOutputTokens: 4 };
/** At 1,000 and 2,000 dollars per million tokens, this costs 2 × 1,000 + 3 × 2,000 micros. */
const USAGE = { prompt_tokens: 2, completion_tokens: 3 };
const UPSTREAM = 8_000;
const CHARGE = UPSTREAM + 480;

let vendor: Vendor;
const before = { ...env };
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({
    OPENAI_COMPATIBLE_BASE_URL: vendor.url,
    OPENAI_BASE_URL: vendor.url,
    OPENAI_API_KEY: "sk-1",
    ALLOW_PRIVATE_ADDRESSES: true,
  });
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

const answers = (usage: object | undefined) =>
  vendor.answer({ json: { id: "c-1", choices: [{ message: { content: "Hi" } }], usage } });

async function run({ ctx, clock }: TestProject, target = "openai-compatible/priced") {
  const { jobId } = await jobs.submit(ctx, TEXT, { input, pin: { target } });
  await jobs.run(ctx, jobId, inlineStep(clock));
  const receipt = await jobs.receipt(ctx, jobId);
  return { jobId, receipt, pricing: receipt.pricing };
}

/** Makes a project whose organization has paid nothing yet. */
async function onTrial(): Promise<TestProject> {
  const world = await makeProject();
  await pool.query("DELETE FROM wallet WHERE organization_id = $1", [world.organizationId]);
  return world;
}

test("the prepaid balance is charged with the fee, and the allowance pays nothing", async () => {
  answers(USAGE);
  const { receipt, pricing, jobId } = await run(await makeProject());
  expect(receipt).toMatchObject({ status: "succeeded", isTest: false, actualCost: CHARGE / 1_000_000 });
  expect(pricing).toMatchObject({
    fundingSource: "managed_wallet",
    chargeState: "charged",
    charge: { customerCharge: { amountMicros: CHARGE }, customerDebit: { amountMicros: CHARGE } },
    trialCoveredMicros: 0,
    customerDebitedMicros: CHARGE,
    customerCharge: { upstreamMicros: UPSTREAM, serviceFeeMicros: 480, customerTotalMicros: CHARGE },
    providerUsage: { costBearer: "service", reportedCost: null },
  });
  expect((await rowsOf(jobId)).hold).toMatchObject({ funding: "wallet", settled_micros: CHARGE });
});

test("the first-use allowance covers the cost, and the customer is charged nothing", async () => {
  answers(USAGE);
  const { receipt, pricing, jobId } = await run(await onTrial());
  expect(pricing).toMatchObject({
    fundingSource: "managed_trial",
    chargeState: "covered",
    charge: {
      customerCharge: { amountMicros: 0 },
      customerDebit: { amountMicros: 0 },
      chargedAt: null,
    },
    actualCharge: { amountMicros: 0 },
    trialCoveredMicros: CHARGE,
    customerDebitedMicros: 0,
    customerCharge: { customerTotalMicros: CHARGE },
  });
  expect(receipt.actualCost).toBe(0);
  expect((await rowsOf(jobId)).hold).toMatchObject({ funding: "allowance", settled_micros: CHARGE });
});

test("the provider's own price is reported beside the list price, which is charged", async () => {
  answers({ ...USAGE, cost: 0.0123 });
  const { pricing } = await run(await makeProject());
  expect(pricing).toMatchObject({
    providerCost: { amount: { amountMicros: 12_300 }, status: "reported", basis: "provider_reported" },
    providerReportedCostMicros: 12_300,
    providerUsage: { reportedCost: { amountMicros: 12_300 } },
    basisActual: { amountMicros: UPSTREAM },
    charge: { customerCharge: { amountMicros: CHARGE } },
  });
  answers(USAGE);
  expect((await run(await makeProject())).pricing).toMatchObject({
    providerCost: { amount: { amountMicros: UPSTREAM }, status: "computed", basis: "list_price" },
    providerReportedCostMicros: null,
  });
});

test("missing usage makes the cost unknown and charges the whole reservation, and a reported price is still shown", async () => {
  answers(undefined);
  const unknown = await run(await makeProject());
  const { hold } = await rowsOf(unknown.jobId);
  expect(unknown.pricing).toMatchObject({
    providerCost: { amount: null, status: "unknown", basis: "unknown" },
    basisActual: null,
    charge: { customerCharge: { amountMicros: hold.amount_micros } },
    chargeState: "charged",
  });
  answers({ cost: 0.5 });
  expect((await run(await makeProject())).pricing).toMatchObject({
    providerCost: { amount: { amountMicros: 500_000 }, status: "reported" },
    basisActual: null,
    charge: { customerCharge: { amountMicros: hold.amount_micros } },
  });
});

describe("the provider's cost and the charge of an execution", () => {
  const request = { input, pin: { target: "openai-compatible/priced" } };
  const lineOf = async ({ ctx }: TestProject) => (await jobs.mine(ctx, { limit: 1 })).items[0];

  test("an unknown cost is null in each view, beside the charge", async () => {
    answers(undefined);
    const project = await makeProject();
    const done = await jobs.invoke(project.ctx, TEXT, { ...request, idempotencyKey: "unknown" });
    expect(done.charge.chargedMicros).toBeGreaterThan(0);
    expect(done).toMatchObject({
      actualCost: 0,
      providerCostMicros: null,
      usage: { actualCost: 0, providerCostMicros: null, providerCostEstimatedMicros: expect.any(Number) },
    });
    const again = await jobs.invoke(project.ctx, TEXT, { ...request, idempotencyKey: "unknown" });
    expect([again.providerCostMicros, again.usage?.providerCostMicros]).toEqual([null, null]);
    const job = await jobs.get(project.ctx, done.executionId);
    expect(job).toMatchObject({ actualCost: null, providerCostMicros: null, charge: done.charge });
    expect(await lineOf(project)).toMatchObject({ providerCostMicros: null, charge: done.charge });
  });

  test("a known cost excludes the fee and the charge includes it, in every view", async () => {
    answers(USAGE);
    const project = await makeProject();
    const { executionId, ...done } = await jobs.invoke(project.ctx, TEXT, request);
    expect(done).toMatchObject({
      providerCostMicros: UPSTREAM,
      usage: { providerCostMicros: UPSTREAM },
      charge: { chargedMicros: CHARGE },
    });
    const job = await jobs.get(project.ctx, executionId);
    expect(job).toMatchObject({ providerCostMicros: UPSTREAM, charge: { chargedMicros: CHARGE } });
    expect(job.estimatedCost).toBe((job.providerCostEstimatedMicros ?? 0) / 1_000_000);
    expect(job.charge?.estimatedMicros).toBeGreaterThan(job.providerCostEstimatedMicros ?? 0);
    expect(await lineOf(project)).toMatchObject({ providerCostMicros: UPSTREAM });
    const { pricing } = await jobs.receipt(project.ctx, executionId);
    expect(pricing).toMatchObject({
      providerCost: { amount: { amountMicros: UPSTREAM } },
      charge: { customerCharge: { amountMicros: CHARGE } },
    });
  });
});

test("an execution with an unknown end is unsettled, and a refused one costs nothing", async () => {
  vendor.answer("close");
  expect((await run(await makeProject())).pricing).toMatchObject({
    chargeState: "unsettled",
    charge: null,
    trialCoveredMicros: null,
    customerDebitedMicros: null,
    fundingSource: "managed_wallet",
  });
  vendor.answer({ status: 400, json: { error: { code: "invalid_prompt" } } });
  expect((await run(await makeProject())).pricing).toMatchObject({
    chargeState: "covered",
    charge: { customerCharge: { amountMicros: 0 }, chargedAt: null },
    customerDebitedMicros: 0,
  });
});

test("an OpenAI request that asks for flex and is refused with 400 is sent once more without it", async () => {
  const done = {
    id: "resp_1",
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text", text: "Hi" }] }],
    usage: { input_tokens: 1_000, output_tokens: 500 },
  };
  vendor.answer(
    { status: 400, json: { error: { code: "invalid_request_error" } } },
    { json: { ...done, service_tier: "default" } },
  );
  const refused = await run(await makeProject(), "openai/gpt-5.6-luna");
  const sent = vendor.arrived.map(({ body }) => JSON.parse(body));
  expect(sent).toHaveLength(2);
  const { service_tier, ...first } = sent[0];
  expect(service_tier).toBe("flex");
  expect(sent[1]).toEqual(first);
  expect(refused.receipt).toMatchObject({
    status: "succeeded",
    processingTier: "standard",
    processingFallback: { reason: "refused" },
    providerSubmissions: 2,
    pricing: { basisActual: { amountMicros: 4_000 } },
  });
  vendor.answer({ json: { ...done, service_tier: "flex" } });
  expect((await run(await makeProject(), "openai/gpt-5.6-luna")).receipt).toMatchObject({
    processingTier: "flex",
    deferredDiscountBps: 5_000,
    pricing: { basisActual: { amountMicros: 2_000 }, discountedUpstreamBasisMicros: 2_000 },
  });
});

test("an organization that is billed in Canadian dollars sees amounts in both currencies, at the rate of the admission", async () => {
  answers(USAGE);
  const world = await makeProject();
  const setCurrency = (currency: string) =>
    pool.query(
      "UPDATE organization SET settings = jsonb_build_object('billingCurrency', $2::text) WHERE id = $1",
      [world.organizationId, currency],
    );
  await setCurrency("CAD");
  const { pricing: quoted } = await quote(world.ctx, TEXT, { input });
  const rateScaled = 137_000_000;
  const fx = { rateScaled, scale: 8, baseCurrency: "USD", quoteCurrency: "CAD", source: "development" };
  const shown = (usdMicros: number) => ({
    convertedTotal: { amountMicros: Math.round(usdMicros * 1.37), currency: "CAD" },
    fx,
  });
  expect(quoted).toMatchObject({
    quote: { customerTotal: { currency: "USD" } },
    presentation: shown(quoted?.quote?.customerTotal?.amountMicros ?? Number.NaN),
  });
  const { pricing } = await run(world);
  expect(pricing).toMatchObject({
    charge: { customerCharge: { amountMicros: CHARGE, currency: "USD" } },
    presentation: shown(CHARGE),
  });
});
