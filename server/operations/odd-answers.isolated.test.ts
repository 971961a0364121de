import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DAY_MS } from "@/server/platform/time/units";
import { setSettings } from "@/testing/settings";

// The provider reads this when it loads.
vi.hoisted(() => {
  process.env.OPENAI_COMPATIBLE_MODELS = "priced:1000:2000,priced2:1000:2000";
});

import { Receipt } from "@/server/contract/receipts";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { framesOf } from "@/testing/streams";
import { rowsOf } from "@/testing/world";

/* A vendor with odd answers: the work ran, so it is answered, sealed and settled, and later reads still work. */

const TEXT = "text.general.fast.v1";
const messages = [{ role: "user", content: "How deep is the sea?" }];
const envelope = {
  input: { messages, maxOutputTokens: 4 },
  execution: { executionConstraints: { providerPin: "openai-compatible", preferredModel: "priced" } },
};
const door = { model: "openai-compatible/priced" };

let vendor: Vendor;
let tenant: Tenant;
const before = { ...env };
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ OPENAI_COMPATIBLE_BASE_URL: vendor.url, ALLOW_PRIVATE_ADDRESSES: true });
  tenant = await makeTenant();
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

/** The answers are text, because an object cannot express every JSON number. */
const answers = (usage: string, content = "Deep.") =>
  vendor.answer({
    text: `{"id":"c-1","model":"priced","choices":[{"finish_reason":"stop","message":{"content":${JSON.stringify(content)}}}],"usage":${usage}}`,
  });

async function readAll() {
  const day = new Date().toISOString().slice(0, 10);
  const next = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
  for (const target of [
    "/v1/billing/summary",
    `/v1/capabilities/${TEXT}/benchmarks?projectId=${tenant.projectId}`,
    `/v1/billing/usage-export?from=${day}&to=${next}`,
  ]) {
    const { status, text } = await tenant.get(target);
    expect(status, `${target} ${text.slice(0, 300)}`).toBe(200);
  }
}

describe.each(["1.5", "-5", "1e30", String(2 ** 52), "1e400"])("%s tokens of input", (tokens) => {
  const usage = `{"prompt_tokens":${tokens},"completion_tokens":4}`;

  test("the count is unknown, the answer is returned, the whole reservation is settled, and all reads work", async () => {
    answers(usage);
    const invoked = await tenant.post(`/v1/capabilities/${TEXT}/invoke`, envelope);
    expect(invoked.status, invoked.text).toBe(200);
    expect(invoked.json.usage).toMatchObject({ inputTokens: null, outputTokens: 4 });
    const { job, attempts, hold } = await rowsOf(invoked.json.executionId);
    expect(job).toMatchObject({ status: "succeeded", actual_micros: null });
    expect(attempts).toMatchObject([{ cost_micros: null, usage: { outputTokens: 4 } }]);
    expect(hold).toMatchObject({ state: "settled", settled_micros: hold?.amount_micros });

    const chat = await tenant.post("/v1/chat/completions", { ...door, messages });
    expect(chat.status, chat.text).toBe(200);
    const response = await tenant.post("/v1/responses", { ...door, input: "How deep is the sea?" });
    expect(response.status, response.text).toBe(200);
    await readAll();
  });
});

test.each(["1e13", "-1", "1e400", '"1"'])(
  "a cost of %s dollars counts as none, and job and receipt are readable",
  async (cost) => {
    answers(`{"prompt_tokens":3,"completion_tokens":4,"cost":${cost}}`);
    const submitted = await tenant.post(`/v1/capabilities/${TEXT}/jobs`, envelope);
    expect(submitted.status, submitted.text).toBe(200);
    const { jobId } = submitted.json;
    await finish(jobId);
    const job = await tenant.get(`/v1/jobs/${jobId}`);
    expect(job.status, job.text).toBe(200);
    const receipt = await tenant.get(`/v1/jobs/${jobId}/receipt`);
    expect(receipt.status, receipt.text).toBe(200);
    expect(Receipt.parse(receipt.json).pricing).toMatchObject({
      providerReportedCostMicros: null,
      providerCost: { status: "computed", amount: { amountMicros: 11_000 } },
    });
  },
);

test("invalid stored figures count as nothing, and all reads work", async () => {
  answers('{"prompt_tokens":3,"completion_tokens":4}');
  const { executionId } = (await tenant.post(`/v1/capabilities/${TEXT}/invoke`, envelope)).json;
  const before = (await tenant.get("/v1/billing/summary")).json.live.totals;
  for (const figure of ["1.5", "-5", "1e30", String(2 ** 52)]) {
    await pool.query(
      `UPDATE attempt SET usage = jsonb_set(usage, '{inputTokens}', $2::jsonb) WHERE job_id = $1`,
      [executionId, figure],
    );
    await readAll();
    const { totals } = (await tenant.get("/v1/billing/summary")).json.live;
    expect(totals).toEqual({ ...before, inputTokens: before.inputTokens - 3 });
  }
});

const USAGE = '{"prompt_tokens":3,"completion_tokens":4}';
const STRUCTURED = "text.structured.generation.v1";
const TRANSLATE = "text.translate.v1";
const INVALID = "StructuredOutputInvalid";
const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
const tooDeep = JSON.stringify({ items: [{ id: "a", translation: "Tief", more: "REPLACED" }] });
const toTranslate = { sourceLocale: "en", targetLocale: "de", items: [{ id: "a", text: "Deep" }] };

const FORMLESS: [
  name: string,
  key: string,
  input: object,
  content: string,
  code: string,
  submissions?: number,
][] = [
  ["a number beyond all", STRUCTURED, { messages }, '{"a":1e400}', INVALID],
  ["an integer whose digits would change", STRUCTURED, { messages }, '{"a":12345678901234567890}', INVALID],
  ["the same member twice", STRUCTURED, { messages }, '{"a":1,"\\u0061":2}', INVALID],
  ["an object 5,000 deep", STRUCTURED, { messages }, deep, INVALID],
  [
    "a translation that is too deep",
    TRANSLATE,
    toTranslate,
    tooDeep.replace('"REPLACED"', deep),
    "StructuredOutputRepairFailed",
    2,
  ],
];

/** Expects that an execution has failed with this code and was charged by its observed usage. */
async function expectSettled(executionId: string, code: string, submissions = 1) {
  const { job, attempts, hold } = await rowsOf(executionId);
  expect(job).toMatchObject({ status: "failed" });
  expect(attempts.map(({ submission }) => submission)).toEqual(["attempted"]);
  expect(hold?.state).toBe("settled");
  expect(job?.actual_micros).toBeGreaterThan(0);
  const receipt = await tenant.get(`/v1/jobs/${executionId}/receipt`);
  expect(receipt.status, receipt.text).toBe(200);
  expect(Receipt.parse(receipt.json)).toMatchObject({
    status: "failed",
    error: { code },
    providerSubmission: "attempted",
    holdState: "settled",
    attempts: [{ submissions }],
  });
}

describe.each(FORMLESS)("%s", (_name, key, input, content, code, submissions) => {
  const asked = { ...envelope, input };
  test("a synchronous call fails, and its hold is settled by the observed usage", async () => {
    answers(USAGE, content);
    const { status, json, text } = await tenant.post(`/v1/capabilities/${key}/invoke`, asked);
    expect(status, text).not.toBe(500);
    expect(json.code, text).toBe(code);
    await expectSettled(json.details.executionId, code, submissions);
  });

  test("a durable job fails, and its hold is settled by the observed usage", async () => {
    answers(USAGE, content);
    const { json } = await tenant.post(`/v1/capabilities/${key}/jobs`, asked);
    const job = await finish(json.jobId);
    expect(job.error?.code).toBe(code);
    await expectSettled(json.jobId, code, submissions);
  });
});

const MENDED: [name: string, content: string, mended: string][] = [
  ["half of a character", "a\ud800b", "a\ufffdb"],
  ["a NUL", "a\u0000b", "a\ufffdb"],
];
const streamOf = (...pieces: string[]) => {
  const event = (delta: object, more = {}) =>
    `data: ${JSON.stringify({ id: "c-1", model: "priced", choices: [{ delta, ...more }] })}\n\n`;
  vendor.answer({
    headers: { "content-type": "text/event-stream" },
    text: `${pieces.map((content) => event({ content })).join("")}${event({}, { finish_reason: "stop" })}data: {"choices":[],"usage":${USAGE}}\n\ndata: [DONE]\n\n`,
  });
};

describe.each(MENDED)("%s in an answer becomes U+FFFD", (_name, content, mended) => {
  test.each(["invoke", "jobs"])("%s returns U+FFFD in its place, in text and in an object", async (how) => {
    const read = async (key: string) => {
      const { status, json, text } = await tenant.post(`/v1/capabilities/${key}/${how}`, {
        ...envelope,
        input: { messages },
      });
      expect(status, text).toBe(200);
      return how === "jobs" ? (await finish(json.jobId)).typedOutput : json.typedOutput;
    };
    answers(USAGE, content);
    expect(await read(TEXT)).toMatchObject({ content: mended });
    answers(USAGE, JSON.stringify({ [content]: [content] }));
    expect(await read(STRUCTURED)).toEqual({ [mended]: [mended] });
  });

  test("the answer of a chat can be sent back as history", async () => {
    answers(USAGE, content);
    const { json } = await tenant.post("/v1/chat/completions", { ...door, messages });
    const { message } = json.choices[0];
    expect(message.content).toBe(mended);
    const next = { ...door, messages: [...messages, message, ...messages] };
    const { status, text } = await tenant.post("/v1/chat/completions", next);
    expect(status, text).toBe(200);
  });

  test("the pieces and the end of a stream are the same text", async () => {
    streamOf(content, "c");
    const { json } = await tenant.post(`/v1/capabilities/${TEXT}/invoke`, {
      ...envelope,
      executionMode: "Stream",
    });
    const frames = framesOf((await tenant.get(`/v1/executions/${json.executionId}/events`)).text);
    expect(frames.map(({ data }) => data.text ?? "").join("")).toBe(`${mended}c`);
    expect(frames.at(-1)!.data.typedOutput).toMatchObject({ content: `${mended}c` });
  });

  test("a job with reader delivery has U+FFFD in its output", async () => {
    streamOf(`${content}\n\nmo`, "re");
    const { json, text } = await tenant.post(`/v1/capabilities/${TEXT}/jobs`, {
      ...envelope,
      readerDelivery: { boundary: "paragraph" },
    });
    expect(json.jobId, text).toBeDefined();
    const { status, typedOutput } = await finish(json.jobId);
    expect({ status, typedOutput }).toMatchObject({
      status: "succeeded",
      typedOutput: { content: `${mended}\n\nmore` },
    });
  });

  test("the entries of a comparison succeed and settle their holds", async () => {
    answers(USAGE, content);
    const competitors = ["openai-compatible/priced", "openai-compatible/priced2"].map((providerPin) => ({
      axis: "provider",
      providerPin,
    }));
    const created = await tenant.post(`/v1/capabilities/${TEXT}/comparisons`, {
      context: { projectId: tenant.projectId },
      input: { messages },
      competitors,
    });
    expect(created.status, created.text).toBe(200);
    for (const { jobId } of created.json.entries) {
      await finish(jobId);
      const { job, hold } = await rowsOf(jobId);
      expect(job).toMatchObject({ status: "succeeded", error_code: null });
      expect(hold?.state).toBe("settled");
    }
  });
});

test("the two halves of a character in two pieces of a stream are one character", async () => {
  streamOf("a\ud83d", "\ude00b");
  const { text } = await tenant.post("/v1/chat/completions", { ...door, messages, stream: true });
  expect(text).not.toContain("\ufffd");
  const said = [...text.matchAll(/"content":"([^"]*)"/g)]
    .map(([, piece]) => JSON.parse(`"${piece}"`))
    .join("");
  expect(said).toBe("a\ud83d\ude00b");
});

test("a field with a NUL in its name fails the answer, and the record stays whole", async () => {
  answers(USAGE, '{"\\u0000":1}');
  const responseSchema = { type: "object", properties: {}, additionalProperties: false };
  const asked = { ...envelope, input: { messages, responseSchema } };
  const { json, text } = await tenant.post(`/v1/capabilities/${STRUCTURED}/invoke`, asked);
  expect(json.code, text).toMatch(/^StructuredOutput/);
  await expectSettled(json.details.executionId, json.code);
});
