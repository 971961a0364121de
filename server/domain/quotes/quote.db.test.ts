import { randomBytes } from "node:crypto";
import fc from "fast-check";
import sharp from "sharp";
import { expect, test, vi } from "vitest";
import { SERVICE_FEE_BPS } from "@/server/contract/pricing";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { campaign } from "@/testing/campaign";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";
const messages = [{ role: "user", content: "How deep is the sea?" }];

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (cause: { code?: string; details?: { reason?: string } }) => ({
      code: cause.code,
      reason: cause.details?.reason,
    }),
  );

test("an unknown input field is refused with the allowed ones, and a model with the field that takes it", async () => {
  const { ctx } = await makeProject();
  const refused = (capability: string, input: Record<string, Json>) =>
    quotes.quote(ctx, capability, { input }).then(
      () => "",
      (fault: Error) => fault.message,
    );
  expect(await refused(TEXT, { messages, temprature: 1 })).toBe(
    `${TEXT} does not support input.temprature. Its inputs are messages, maxOutputTokens, responseFormat, responseSchema.`,
  );
  expect(await refused(TEXT, { messages, model: "sandbox-2" })).toContain(
    "execution.executionConstraints.preferredModel",
  );
  expect(await refused("compute.evaluate.v1", { expression: "1", model: "x" })).not.toContain(
    "preferredModel",
  );
});

test("a quote has a price and a route, is valid for fifteen minutes, and reserves and charges nothing", async () => {
  const { ctx, projectId } = await makeProject();
  const before = Date.now();
  const quote = await quotes.quote(ctx, TEXT, { input: { messages } });
  expect(quote).toMatchObject({
    status: "ok",
    missing: [],
    estimateId: quote.quoteId,
    capabilityKey: TEXT,
    pricingVersion: "price_2026_08_1",
    spending: "none",
    resolved: {
      billingMode: "managed",
      provider: "sandbox",
      model: "sandbox-1",
      routeKey: "sandbox/sandbox-1",
    },
    pricing: { mode: "managed", policy: { serviceFeeBps: 600, pricingMode: "managed" } },
  });
  expect(quote.quoteId).toMatch(/^quote_[0-9a-hjkmnp-tv-z]{26}$/);
  const lifetime = Date.parse(quote.expiresAt ?? "") - before;
  expect(lifetime).toBeGreaterThanOrEqual(15 * 60_000);
  expect(lifetime).toBeLessThan(16 * 60_000);
  expect(quote.pricing?.quote).toMatchObject({
    quoteId: quote.quoteId,
    qualifier: "upper_bound",
    expiresAt: quote.expiresAt,
    customerTotal: quote.expectedCharge,
    maximumCustomerTotal: quote.maximumAuthorizedCharge,
    pricingInputsHash: quote.pricingInputFingerprint,
  });
  for (const table of ["job", "hold", "ledger_entry"]) {
    const { rows } = await pool.query(`SELECT count(*)::int AS n FROM ${table} WHERE project_id = $1`, [
      projectId,
    ]);
    expect(rows[0]).toEqual({ n: 0 });
  }
});

test("a quote can be submitted with the same request in any key order", async () => {
  const { ctx } = await makeProject();
  const { quoteId } = await quotes.quote(ctx, TEXT, { input: { messages, maxOutputTokens: 64 } });
  const job = await jobs.submit(ctx, TEXT, {
    execution: { quoteId },
    input: { maxOutputTokens: 64, messages: [{ content: "How deep is the sea?", role: "user" }] },
  });
  expect((await rowsOf(job.jobId)).job).toMatchObject({ quote_id: quoteId });
});

test("a bare body can be quoted and then submitted, including a response schema", async () => {
  const { ctx } = await makeProject();
  const body = { messages, responseSchema: { type: "object", properties: { a: { type: "string" } } } };
  const { quoteId } = await quotes.quote(ctx, "text.structured.generation.v1", body);
  const job = await jobs.submit(ctx, "text.structured.generation.v1", { ...body, quoteId });
  expect((await rowsOf(job.jobId)).job).toMatchObject({ quote_id: quoteId });
});

test("any change of a part that prices or routes breaks the seal", async () => {
  const { ctx } = await makeProject();
  const quoted = { input: { messages, maxOutputTokens: 64 } };
  const { quoteId } = await quotes.quote(ctx, TEXT, quoted);
  const changes: Record<string, Record<string, unknown>> = {
    "the text": {
      input: { messages: [{ role: "user", content: "How deep is the sea? " }], maxOutputTokens: 64 },
    },
    "the cap": { input: { messages, maxOutputTokens: 65 } },
    "a left out field": { input: { messages } },
    "the billing mode": { ...quoted, billingMode: "managed" },
    "the model": { ...quoted, preferredModel: "sandbox-2" },
    "the provider": { ...quoted, providerPin: "sandbox" },
    "the pin": { ...quoted, pin: { target: "sandbox/sandbox-1" } },
    "the sampling": { ...quoted, sampling: { temperature: 1 } },
    "the tools": { ...quoted, toolSchemas: [{ type: "function", name: "f" }] },
    "the schema": { ...quoted, responseSchema: { type: "object" } },
  };
  for (const [what, body] of Object.entries(changes)) {
    const refused = await codeOf(
      jobs.submit(ctx, TEXT, { ...body, execution: { quoteId } } as Parameters<typeof jobs.submit>[2]),
    );
    expect({ what, ...refused }).toEqual({ what, code: "QUOTE_MISMATCH", reason: "changed" });
  }
  expect(await codeOf(jobs.submit(ctx, "text.structured.generation.v1", { ...quoted, quoteId }))).toEqual({
    code: "QUOTE_MISMATCH",
    reason: "changed",
  });
});

test("a change that neither prices nor routes keeps the seal", async () => {
  const { ctx } = await makeProject();
  const { quoteId } = await quotes.quote(ctx, TEXT, { input: { messages } });
  const job = await jobs.submit(ctx, TEXT, {
    input: { messages },
    execution: { quoteId, executionConstraints: { maxCostUsd: 5, maxDurationSeconds: 60 } },
    tags: ["a"],
    metadata: { a: 1 },
    externalRef: "ref",
    correlationId: "c",
    idempotencyKey: "k",
    sampling: { temperature: null },
    toolSchemas: [],
  });
  expect(job.status).toBe("queued");
});

test("the seal of random inputs ignores key order and changes with the text", async () => {
  const { ctx } = await makeProject();
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 1, unit: "grapheme" }),
      fc.string({ minLength: 1, unit: "grapheme" }),
      async (content, other) => {
        const ask = (text: string) => ({ messages: [{ role: "user", content: text }] });
        const { pricingInputFingerprint } = await quotes.quote(ctx, TEXT, { input: ask(content) });
        const shuffled = await quotes.quote(ctx, TEXT, {
          execution: {},
          input: { messages: [{ content, role: "user" }] },
        });
        const changed = await quotes.quote(ctx, TEXT, { input: ask(`${content}${other}`) });
        expect(shuffled.pricingInputFingerprint).toBe(pricingInputFingerprint);
        expect(changed.pricingInputFingerprint).not.toBe(pricingInputFingerprint);
      },
    ),
    campaign.runs({ small: 12, full: 300 }),
  );
});

test("a quote is valid until it expires, and a replay of its submission is answered after that", async () => {
  const { ctx, clock } = await makeProject();
  const { quoteId } = await quotes.quote(ctx, TEXT, { input: { messages } });
  const body = { input: { messages }, execution: { quoteId } };
  clock.advance(15 * 60_000 - 1_000);
  const job = await jobs.submit(ctx, TEXT, { ...body, idempotencyKey: "k" });
  clock.advance(2_000);
  expect(await codeOf(jobs.submit(ctx, TEXT, { ...body, idempotencyKey: "other" }))).toEqual({
    code: "QUOTE_MISMATCH",
    reason: "expired",
  });
  expect((await jobs.submit(ctx, TEXT, { ...body, idempotencyKey: "k" })).jobId).toBe(job.jobId);
});

test("a quote that is unknown, of another project or of another kind is refused with its reason", async () => {
  const [mine, theirs] = [await makeProject(), await makeProject()];
  const foreign = await quotes.quote(theirs.ctx, TEXT, { input: { messages } });
  const submit = (quoteId: string | null) =>
    codeOf(jobs.submit(mine.ctx, TEXT, { input: { messages }, execution: { quoteId } }));
  expect(await submit(foreign.quoteId)).toEqual({ code: "QUOTE_MISMATCH", reason: "unknown" });
  expect(await submit("quote_00000000000000000000000000")).toEqual({
    code: "QUOTE_MISMATCH",
    reason: "unknown",
  });
  expect(await submit("cq_00000000000000000000000000")).toEqual({
    code: "QUOTE_MISMATCH",
    reason: "commission_quote",
  });
  expect(await submit("anything")).toEqual({ code: "QUOTE_MISMATCH", reason: "not_a_quote" });
});

test("missing inputs that the price needs are named", async () => {
  const { ctx } = await makeProject();
  expect(await quotes.quote(ctx, TEXT, { input: {} })).toMatchObject({
    status: "pricing_inputs_required",
    missing: ["/input/messages"],
    quoteId: null,
    pricing: null,
    expectedCharge: null,
    pricingVersion: "price_2026_08_1",
    spending: "none",
  });
  expect(await quotes.quote(ctx, IMAGE, {})).toMatchObject({
    status: "pricing_inputs_required",
    missing: ["/input/prompt"],
  });
});

test("free work has a price of zero and no quote", async () => {
  const { ctx, projectId } = await makeProject();
  const quote = await quotes.quote(ctx, "compute.evaluate.v1", { input: { expression: "1 + 1" } });
  expect(quote).toMatchObject({
    status: "ok",
    quoteId: null,
    estimateId: null,
    expiresAt: null,
    resolved: null,
    expectedCharge: { amountMicros: 0 },
    maximumAuthorizedCharge: { amountMicros: 0 },
    pricing: { quote: { kind: "fixed", quoteId: null, customerTotal: { amountMicros: 0 } } },
  });
  const { rows } = await pool.query("SELECT FROM retail_quote WHERE project_id = $1", [projectId]);
  expect(rows).toEqual([]);
});

test("a managed price adds 600 basis points once, and a byok price adds nothing", async () => {
  const { ctx } = await makeProject();
  for (const model of ["sandbox-1", "sandbox-2"]) {
    const body = { input: { messages, maxOutputTokens: 777 }, preferredModel: model };
    const managed = await quotes.quote(ctx, TEXT, { ...body, billingMode: "managed" });
    const byok = await quotes.quote(ctx, TEXT, { ...body, billingMode: "byok" });
    const upstream = byok.pricing?.quote?.chargeBasis?.amountMicros ?? 0;
    expect(upstream).toBeGreaterThan(0);
    expect(byok.expectedCharge?.amountMicros).toBe(upstream);
    expect(byok.pricing).toMatchObject({
      policy: { serviceFeeBps: 0 },
      quote: { serviceFee: { amountMicros: 0 }, customerTotal: { amountMicros: upstream } },
      charge: { customerCharge: { amountMicros: 0 }, customerDebit: { amountMicros: 0 }, chargedAt: null },
    });
    expect(managed.pricing).not.toHaveProperty("charge");
    expect(managed.pricing?.quote?.chargeBasis?.amountMicros).toBe(upstream);
    const fee = Number((BigInt(upstream) * 600n + 5_000n) / 10_000n);
    expect(managed.pricing?.quote?.serviceFee?.amountMicros).toBe(fee);
    expect(managed.expectedCharge?.amountMicros).toBe(upstream + fee);
  }
});

test("the fee is rounded half up to a whole micro", () => {
  expect([0, 8, 9, 24, 25, 41, 42].map((micros) => quotes.serviceFee(micros, SERVICE_FEE_BPS))).toEqual([
    0, 0, 1, 1, 2, 2, 3,
  ]);
  fc.assert(
    fc.property(fc.nat(10 ** 12), fc.constantFrom(0, 1, 250, 600), (micros, bps) => {
      expect(BigInt(quotes.serviceFee(micros, bps))).toBe(
        (BigInt(micros) * BigInt(bps) * 2n + 10_000n) / 20_000n,
      );
    }),
    campaign.runs({ small: 100, full: 1_000 }),
  );
});

test("images are priced by number and quality", async () => {
  const { ctx } = await makeProject();
  const price = async (input: Record<string, string | number>) =>
    (await quotes.quote(ctx, IMAGE, { input: { prompt: "A kite", ...input }, billingMode: "byok" }))
      .expectedCharge?.amountMicros;
  expect(await price({})).toBe(40_000);
  expect(await price({ variantCount: 3 })).toBe(120_000);
  expect(await price({ quality: "low" })).toBe(10_000);
  expect(await price({ quality: "high" })).toBe(160_000);
  expect(await price({ quality: "auto" })).toBe(160_000);
});

test("a larger image is held and charged in proportion to its area, a smaller one as listed", {
  tags: "long",
}, async () => {
  const { ctx, clock } = await makeProject();
  for (const [size, micros] of [
    [{ width: 816, height: 816 }, 40_000],
    [{ width: 1024, height: 1024 }, 40_000],
    [{ width: 2048, height: 1024 }, 80_000],
    [{ width: 2048, height: 2048 }, 160_000],
    [{ sheet: { rows: 2, columns: 4, slice: true, normalize: { width: 512, height: 512 } } }, 80_000],
  ] as const) {
    const input = { prompt: "A kite", ...size } as Record<string, Json>;
    const quote = await quotes.quote(ctx, IMAGE, { input, billingMode: "byok" });
    expect(quote.expectedCharge?.amountMicros).toBe(micros);
    const { jobId } = await jobs.submit(ctx, IMAGE, { input, billingMode: "byok", quoteId: quote.quoteId });
    await jobs.run(ctx, jobId, inlineStep(clock));
    const { hold, job } = await rowsOf(jobId);
    expect([job.status, hold.amount_micros, hold.settled_micros]).toEqual(["succeeded", micros, micros]);
  }
});

test("a quote for an image has the prices of the other models, and other quotes do not", async () => {
  const { ctx } = await makeProject();
  const quote = await quotes.quote(ctx, IMAGE, { input: { prompt: "A kite" }, preferredModel: "sandbox-1" });
  expect(quote.resolved?.model).toBe("sandbox-1");
  const other = await quotes.quote(ctx, IMAGE, { input: { prompt: "A kite" }, preferredModel: "sandbox-2" });
  expect(quote.routingAlternatives).toEqual([
    {
      ...other.resolved,
      expectedCharge: other.expectedCharge,
      maximumAuthorizedCharge: other.maximumAuthorizedCharge,
    },
  ]);
  // A model in the input is the only one that can run it.
  const named = await quotes.quote(ctx, IMAGE, { input: { prompt: "A kite", model: "sandbox-1" } });
  expect(named.routingAlternatives).toEqual([]);
  const special = await quotes.quote(ctx, IMAGE, { prompt: "A kite", model: "sandbox-slow" });
  expect(special.resolved?.model).toBe("sandbox-slow");
  expect(await quotes.quote(ctx, TEXT, { input: { messages } })).not.toHaveProperty("routingAlternatives");
});

test("no text call costs more than its quote's maximum", async () => {
  const { ctx, clock } = await makeProject();
  const words = fc.string({ minLength: 1, maxLength: 400, unit: "binary" });
  const call = fc.record(
    {
      messages: fc.array(
        fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: words }),
        {
          minLength: 1,
          maxLength: 5,
        },
      ),
      maxOutputTokens: fc.integer({ min: 1, max: 2048 }),
      responseFormat: fc.constantFrom("text", "json_object"),
    },
    { requiredKeys: ["messages"] },
  );
  await fc.assert(
    fc.asyncProperty(call, fc.constantFrom("managed", "byok"), async (drawn, billingMode) => {
      const input = JSON.parse(JSON.stringify(drawn));
      const quote = await quotes.quote(ctx, TEXT, { input, billingMode });
      const { jobId } = await jobs.submit(ctx, TEXT, { input, billingMode, quoteId: quote.quoteId });
      await jobs.run(ctx, jobId, inlineStep(clock));
      const { hold, job, ledger } = await rowsOf(jobId);
      const maximum = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
      expect(hold?.amount_micros).toBe(maximum);
      expect(hold?.state === "settled" ? hold.settled_micros : 0).toBeLessThanOrEqual(maximum);
      expect(job.actual_micros).toBeLessThanOrEqual(quote.pricing?.quote?.chargeBasis?.amountMicros ?? 0);
      expect(ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);
    }),
    campaign.runs({ small: 20, full: 2_000 }),
  );
}, 300_000);

test("a picture's header is decoded once per request, from its first bytes only", async () => {
  const { ctx } = await makeProject();
  const noise = randomBytes(700 * 500 * 3); // does not compress: about 1 MB of PNG
  const png = await sharp(noise, { raw: { width: 700, height: 500, channels: 3 } })
    .png()
    .toBuffer();
  const dataBase64 = png.toString("base64");
  const sourceImage = { dataBase64, filename: "a.png", mimeType: "image/png" };
  const body = { input: { prompt: "A storm", sourceImage, referenceImages: [sourceImage] } };
  const decode = vi.spyOn(globalThis, "atob");
  try {
    for (const ask of [
      () => quotes.quote(ctx, "image.edit.v1", body),
      () => jobs.submit(ctx, "image.edit.v1", body),
    ]) {
      decode.mockClear();
      await ask();
      const decoded = decode.mock.calls.map(([text]) => text.length);
      expect(decoded).toHaveLength(2); // one per picture
      expect(Math.max(...decoded)).toBeLessThan(10_000);
    }
  } finally {
    decode.mockRestore();
  }
});
