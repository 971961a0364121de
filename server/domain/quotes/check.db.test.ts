import { expect, test } from "vitest";
import { PRICING_VERSION } from "@/server/domain/catalog";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";
import { sealsOf } from "./seal";

const TEXT = "text.general.fast.v1";
const JSON_TEXT = "text.structured.generation.v1";
const IMAGE = "image.generate.v1";

type Refusal = { code?: string; details?: Record<string, Json> };
const refusalOf = (work: Promise<unknown>): Promise<Refusal | null> =>
  work.then(
    () => null,
    ({ code, details }: Refusal) => ({ ...(code ? { code } : {}), ...(details ? { details } : {}) }),
  );

/** Copies a quote with changes, as another time or another build would have stored it. */
async function altered(quoteId: string | null, changes: { body?: object; hash?: string }) {
  const id = newId("quote");
  await pool.query(
    `INSERT INTO retail_quote (id, project_id, principal_id, hash, body, created_at, expires_at)
     SELECT $2, project_id, principal_id, coalesce($4, hash), body || $3::jsonb, created_at, expires_at FROM retail_quote WHERE id = $1`,
    [quoteId, id, JSON.stringify(changes.body ?? {}), changes.hash ?? null],
  );
  return id;
}

const schema = {
  type: "object",
  properties: { depth: { type: "number", minimum: 1 }, unit: { enum: ["m", "km"] } },
  required: ["depth", "unit"],
  additionalProperties: false,
};
const messages = [
  { role: "system", content: "Answer in numbers." },
  { role: "user", content: "How deep is the sea?" },
];

/** Sends a body as this exact text, to control key order, white space and the spelling of numbers. */
const sendText = (tenant: Tenant, what: "jobs" | "quote", text: string) =>
  call("POST", `/v1/capabilities/${JSON_TEXT}/${what}`, { key: tenant.key, body: text });

test("a quote accepts the same input with other key order, white space and spelling of numbers and letters", async () => {
  const tenant = await makeTenant();
  const quoted = { input: { messages, maxOutputTokens: 64, responseSchema: schema } };
  const { json } = await sendText(tenant, "quote", JSON.stringify(quoted));
  const spellings = [
    JSON.stringify(quoted, null, "\t"),
    `{"execution": {}, "input": {"responseSchema": {"additionalProperties": false, "required": ["depth", "unit"],
      "properties": {"unit": {"enum": ["m", "km"]}, "depth": {"minimum": 1.0, "type": "number"}}, "type": "object"},
      "maxOutputTokens": 6.4e1, "messages": [{"content": "Answer in numbers.", "role": "system"},
      {"content": "How deep is the \\u0073ea?", "role": "user"}]}}`,
  ];
  for (const text of spellings) {
    const body = text.replace(/^\s*\{/, `{"quoteId": "${json.quoteId}",`);
    const answer = await sendText(tenant, "jobs", body);
    expect({ status: answer.status, detail: answer.json.detail }).toEqual({ status: 200, detail: undefined });
    expect((await rowsOf(answer.json.jobId)).job.quote_id).toBe(json.quoteId);
  }
});

test("a changed input under a sealed quote is 409 QUOTE_MISMATCH and names the changed parts", async () => {
  const tenant = await makeTenant();
  const input = { messages, maxOutputTokens: 64, responseSchema: schema };
  const { quoteId } = (await sendText(tenant, "quote", JSON.stringify({ input }))).json;
  const { additionalProperties: _closed, ...open } = schema;
  const changes: [Record<string, unknown>, string[]][] = [
    [{ input: { ...input, maxOutputTokens: 65 } }, ["input"]],
    [{ input: { ...input, messages: messages.toReversed() } }, ["input"]],
    [{ input: { ...input, messages: messages.slice(1) } }, ["input"]],
    [
      { input: { ...input, messages: [messages[0], { ...messages[1], content: "How deep is the Sea?" }] } },
      ["input"],
    ],
    [{ input: { ...input, responseSchema: open } }, ["responseSchema"]],
    [{ input: { ...input, responseSchema: { ...schema, required: ["unit", "depth"] } } }, ["responseSchema"]],
    [{ input, preferredModel: "sandbox-1" }, ["constraints"]],
    [{ input, preferredModel: "sandbox-2", autoSelect: true }, ["constraints"]],
    [{ input, providerPin: "sandbox" }, ["constraints"]],
    [{ input, pin: { target: "sandbox/sandbox-1" } }, ["pin"]],
    [{ input, toolSchemas: [{ type: "function", name: "f" }] }, ["toolSchemas"]],
    [{ input, sampling: { temperature: 0 } }, ["sampling"]],
    [{ input, billingMode: "byok" }, ["billingMode"]],
    [{ input, credentialSource: "platform" }, ["billingMode"]],
    [{ input: { ...input, maxOutputTokens: 1 }, preferredModel: "sandbox-2" }, ["input", "constraints"]],
  ];
  for (const [body, fields] of changes) {
    const { status, json } = await sendText(tenant, "jobs", JSON.stringify({ ...body, quoteId }));
    expect({ body, status, code: json.detail.code, details: json.detail.details }).toEqual({
      body,
      status: 409,
      code: "QUOTE_MISMATCH",
      details: { reason: "changed", fields },
    });
  }
  const { rows } = await pool.query("SELECT FROM job WHERE project_id = $1", [tenant.projectId]);
  expect(rows).toEqual([]);
});

test("a quote is valid for one capability, project and environment until it expires", async () => {
  const [{ ctx, clock, projectId }, other] = [await makeProject(), await makeProject()];
  const body = { input: { messages } };
  const { quoteId } = await quotes.quote(ctx, TEXT, body);
  const submit = (capability = TEXT, as = ctx) =>
    refusalOf(jobs.submit(as, capability, { ...body, quoteId } as Parameters<typeof jobs.submit>[2]));
  expect(await submit(JSON_TEXT)).toMatchObject({ details: { reason: "changed", fields: ["capability"] } });
  expect(await submit(TEXT, other.ctx)).toEqual({ code: "QUOTE_MISMATCH", details: { reason: "unknown" } });
  await pool.query(
    "INSERT INTO environment (id, project_id, slug, display_name) VALUES ($1, $2, 'staging', 'Staging')",
    [newId("environment"), projectId],
  );
  const staging = { ...ctx, principal: { ...ctx.principal, environment: "staging" } } as typeof ctx;
  expect(await submit(TEXT, staging)).toEqual({
    code: "QUOTE_MISMATCH",
    details: { reason: "changed", fields: ["environment"] },
  });
  clock.advance(15 * 60_000);
  expect(await submit()).toEqual({ code: "QUOTE_MISMATCH", details: { reason: "expired" } });
});

test("a quote with an older price list, another route or a lower price must be requested again", async () => {
  const { ctx } = await makeProject();
  const body = { input: { messages, maxOutputTokens: 64 } };
  const quote = await quotes.quote(ctx, TEXT, body);
  const maximum = quote.maximumAuthorizedCharge?.amountMicros ?? 0;
  const submit = async (changes: { body?: object; hash?: string }) =>
    refusalOf(jobs.submit(ctx, TEXT, { ...body, quoteId: await altered(quote.quoteId, changes) }));
  expect(await submit({ body: { pricingVersion: "price_2026_07_1" }, hash: "of then" })).toEqual({
    code: "REESTIMATE_REQUIRED",
    details: {
      reason: "pricing_version",
      pricingVersion: "price_2026_08_1",
      quotedPricingVersion: "price_2026_07_1",
      quotedMaximum: maximum / 1_000_000,
      maximum: maximum / 1_000_000,
    },
  });
  expect(await submit({ body: { maximumMicros: maximum - 1 } })).toMatchObject({
    code: "REESTIMATE_REQUIRED",
    details: { reason: "price", quotedMaximum: (maximum - 1) / 1_000_000, maximum: maximum / 1_000_000 },
  });
  expect(await submit({ body: { billingMode: "byok" } })).toMatchObject({ details: { reason: "route" } });
  expect(await submit({ body: { maximumMicros: maximum + 1 } })).toBeNull();
  expect(await submit({})).toBeNull();
});

test("a quote on one provider does not admit work that another would run now", async () => {
  const { ctx } = await makeProject();
  const body = { input: { messages } };
  const { quoteId, resolved } = await quotes.quote(ctx, TEXT, body);
  expect(resolved?.provider).toBe("sandbox");
  const before = env.OPENAI_API_KEY;
  try {
    setSettings({ OPENAI_API_KEY: "a key that was not there when this was quoted" });
    expect(await refusalOf(jobs.submit(ctx, TEXT, { ...body, quoteId }))).toMatchObject({
      code: "REESTIMATE_REQUIRED",
      details: { reason: "route" },
    });
  } finally {
    setSettings({ OPENAI_API_KEY: before });
  }
});

test("no endpoint accepts the id of another kind of price as a quote", async () => {
  const tenant = await makeTenant();
  const kinds = {
    cq_00000000000000000000000000: "commission_quote",
    cmp_00000000000000000000000000: "comparison_estimate",
    cent_00000000000000000000000000: "comparison_estimate",
    wfr_00000000000000000000000000: "not_a_quote",
    "": "none",
  };
  const ways: [string, Record<string, Json>][] = [
    [`${TEXT}/jobs`, { input: { messages } }],
    [`${TEXT}/invoke`, { input: { messages } }],
    [`${TEXT}/invoke`, { input: { messages }, executionMode: "Stream" }],
    [`${IMAGE}/jobs`, { input: { prompt: "A kite" } }],
    [`${IMAGE}/plan`, { input: { prompt: "A kite" } }],
    ["compute.evaluate.v1/invoke", { input: { expression: "1 + 1" } }],
  ];
  for (const [path, body] of ways)
    for (const [id, reason] of Object.entries(kinds))
      for (const name of ["quoteId", "estimateId"]) {
        const { status, json } = await tenant.post(`/v1/capabilities/${path}`, { ...body, [name]: id });
        const wanted = id === "" ? { status: 200 } : { status: 409, reason };
        expect({ path, id, status, reason: json.detail?.details?.reason }).toMatchObject(wanted);
      }
});

test("a quoteId and another execution.estimateId are refused with ESTIMATE_MISMATCH", async () => {
  const tenant = await makeTenant();
  const { quoteId } = (await tenant.post(`/v1/capabilities/${TEXT}/quote`, { messages })).json;
  const other = newId("quote");
  for (const what of ["jobs", "invoke"]) {
    const { status, json } = await tenant.post(`/v1/capabilities/${TEXT}/${what}`, {
      input: { messages },
      quoteId,
      execution: { estimateId: other },
    });
    expect(status).toBe(409);
    expect(json.detail).toMatchObject({
      code: "ESTIMATE_MISMATCH",
      details: { field: "execution.estimateId", quoteId, estimateId: other },
    });
  }
});

test("work without a quote is sealed at admission, and its receipt has the hash that a quote would have", async () => {
  const { ctx, clock } = await makeProject();
  const { pricingInputFingerprint } = await quotes.quote(ctx, TEXT, { input: { messages } });
  const { jobId } = await jobs.submit(ctx, TEXT, { input: { messages } });
  await jobs.run(ctx, jobId, inlineStep(clock));
  const { pricing } = await jobs.receipt(ctx, jobId);
  expect(pricing).toMatchObject({
    quoteId: null,
    pricingVersion: "price_2026_08_1",
    pricingInputFingerprint,
    quote: { quoteId: null, expiresAt: null, pricingInputsHash: pricingInputFingerprint },
  });
  expect(pricingInputFingerprint).toMatch(/^[0-9a-f]{64}$/);
});

test("a quote follows the project's rating and names a route that allows it, as its job will", async () => {
  const { ctx, projectId } = await makeProject();
  const before = env.OPENAI_API_KEY;
  const body = { input: { messages }, billingMode: "managed" };
  try {
    setSettings({ OPENAI_API_KEY: "a key" });
    expect((await quotes.quote(ctx, TEXT, body)).resolved?.provider).toBe("openai");
    await pool.query(`UPDATE project SET settings = '{"maturityRating": "R"}' WHERE id = $1`, [projectId]);
    const rated = await quotes.quote(ctx, TEXT, body);
    expect(rated.resolved?.provider).toBe("sandbox");
    const { jobId } = await jobs.submit(ctx, TEXT, { ...body, quoteId: rated.quoteId });
    expect((await rowsOf(jobId)).job).toMatchObject({ provider: "sandbox", quote_id: rated.quoteId });
    expect(
      await refusalOf(quotes.quote(ctx, TEXT, { ...body, preferredModel: "gpt-5.6-luna" })),
    ).toMatchObject({ code: "PolicyRejected" });
    expect(await refusalOf(quotes.quote(ctx, TEXT, { ...body, maturityRating: "G" }))).toMatchObject({
      code: "UNKNOWN_EXECUTION_FIELD",
    });
  } finally {
    setSettings({ OPENAI_API_KEY: before });
  }
});

test("the hash of a seal is the hash of the canonical form of all fields that affect price or route", async () => {
  const wanted = {
    input: { prompt: "x".repeat(300_000), a: [1, null] },
    execution: { executionConstraints: { autoSelect: false } },
  };
  const seals = sealsOf({
    capabilityKey: "some.capability",
    project: { id: "cpr_1", environment: "" },
    billingMode: null,
    wanted,
    adapters: {
      adapters: [],
      isDefault: false,
      only: null,
    },
  });
  const { hash, parts } = await seals.seal();
  const constraints = { providerPin: null, preferredModel: null, autoSelect: false };
  const sealed = {
    pricingVersion: PRICING_VERSION,
    responseSchema: null,
    toolSchemas: null,
    sampling: null,
    pin: null,
    constraints,
    input: wanted.input,
    billingMode: null,
    environment: "",
    projectId: "cpr_1",
    capability: "some.capability",
  };
  expect(hash).toBe(sha256Hex(canonicalText(sealed)));
  expect(await seals.sealHash()).toBe(hash);
  expect(parts.constraints).toBe(sha256Hex(canonicalText(constraints)));
});
