import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { tapSandbox } from "@/testing/vendor-tap";
import { rowsOf } from "@/testing/world";

/*
 * JSON answers, end to end: every model's answer must fit its schema, a model that does not guarantee the
 * shape gets one repair, and each answer is charged.
 */

const KEY = "text.structured.generation.v1";
const at = (what: string, key = KEY) => `/v1/capabilities/${key}/${what}`;
const messages = [{ role: "user", content: "Name a lighthouse and how high it is." }];
const schema = {
  type: "object",
  properties: { name: { type: "string" }, metres: { type: "integer", minimum: 10, maximum: 90 } },
  required: ["name", "metres"],
  additionalProperties: false,
};
const input = { messages, responseSchema: schema };

let tenant: Tenant;
let tap: Awaited<ReturnType<typeof tapSandbox>>;
beforeAll(async () => {
  tenant = await makeTenant();
  tap = await tapSandbox();
});
afterAll(() => tap.stop());

async function run(body: object, key = KEY) {
  const submitted = await tenant.post(at("jobs", key), body);
  expect(submitted.status, submitted.text).toBe(200);
  const job = await finish(submitted.json.jobId);
  const { json: receipt } = await tenant.get(`/v1/jobs/${job.jobId}/receipt`);
  const attemptId: string = receipt.attempts[0]?.attemptId;
  const bodies = (id: string) => tap.of(id).map((sent) => JSON.parse(sent.body));
  return { job, receipt, first: bodies(attemptId), second: bodies(`${attemptId}-2`) };
}
const quoted = async (body: object) => (await tenant.post(at("quote"), body)).json.pricing.quote;

describe("a model that guarantees the schema", () => {
  test("the model gets the schema through its native schema parameter, in one call", async () => {
    const { job, receipt, first, second } = await run({ input });
    expect(job.typedOutput).toEqual({ name: expect.any(String), metres: expect.any(Number) });
    expect(first).toHaveLength(1);
    expect(first[0].responseFormat).toEqual({ type: "json_schema", name: "answer", schema });
    expect(second).toEqual([]);
    expect(receipt.attempts[0].submissions).toBe(1);
    expect(receipt.providerSubmissions).toBe(1);
  });

  test("a schema beside the input reaches the model", async () => {
    const { job, first } = await run({ input: { messages }, responseSchema: schema });
    expect(job.status).toBe("succeeded");
    expect(first[0].responseFormat.schema).toEqual(schema);
  });

  test("the model gets no repair call if its answer does not fit", async () => {
    const { job, receipt, second } = await run({ input, preferredModel: "sandbox-careless" });
    expect(job.error?.code).toBe("StructuredOutputInvalid");
    expect(second).toEqual([]);
    expect(receipt.providerSubmissions).toBe(1);
    expect(receipt.holdState).toBe("settled");
  });
});

describe("a model with the schema in its prompt", () => {
  test("an answer that does not fit is sent back once, with its errors", async () => {
    const { job, receipt, first, second } = await run({ input, preferredModel: "sandbox-malformed" });
    expect(job.typedOutput).toEqual({ name: expect.any(String), metres: expect.any(Number) });
    expect([first.length, second.length]).toEqual([1, 1]);
    expect(first[0].responseFormat).toEqual({ type: "text" });
    const said: string = first[0].messages[0].content;
    expect(JSON.parse(said.slice(said.indexOf("{")))).toEqual(schema);
    const added = second[0].messages.slice(first[0].messages.length);
    expect(added.map(({ role }: { role: string }) => role)).toEqual(["assistant", "user"]);
    expect(added[0].content).toBe('{"answer": "unfinished');
    expect(added[1].content).toContain("It is not JSON.");
    expect(receipt.attempts).toHaveLength(1);
    expect(receipt.attempts[0].submissions).toBe(2);
    expect(receipt).toMatchObject({ logicalAttempts: 1, providerSubmissions: 2 });
  });

  test("both answers are charged, within a hold that covers both", async () => {
    const { job, receipt } = await run({ input, preferredModel: "sandbox-malformed" });
    const once = await run(
      { input: { messages }, preferredModel: "sandbox-malformed" },
      "text.general.fast.v1",
    );
    const { attempts, hold } = await rowsOf(job.jobId);
    const usage = receipt.usage;
    // Tokens of the sandbox are bytes divided by four. The second call reads the whole first call and its
    // answer.
    expect(usage.inputTokens).toBeGreaterThan(2 * once.receipt.usage.inputTokens);
    const cost = Math.ceil((usage.inputTokens * 150_000 + usage.outputTokens * 600_000) / 1_000_000);
    expect(Math.abs((attempts[0]?.cost_micros ?? 0) - cost)).toBeLessThanOrEqual(2);
    expect(hold?.state).toBe("settled");
    expect(hold?.settled_micros).toBeLessThanOrEqual(hold?.amount_micros ?? 0);
    const { maximumCustomerTotal: wordy } = await quoted({ input, preferredModel: "sandbox-malformed" });
    const { maximumCustomerTotal: native } = await quoted({ input, preferredModel: "sandbox-careless" });
    expect(wordy.amountMicros).toBeGreaterThan(2 * native.amountMicros);
  });

  test("a second answer that does not fit fails the job, with both answers charged", async () => {
    const { job, receipt, second } = await run({ input, preferredModel: "sandbox-stubborn" });
    expect(job.error).toMatchObject({
      code: "StructuredOutputRepairFailed",
      message: "The model's answer is not JSON.",
    });
    expect(job.retry).toEqual({ sameKey: false, newKeySafe: false });
    expect(second).toHaveLength(1);
    expect(receipt).toMatchObject({ providerSubmissions: 2, holdState: "settled" });
  });

  test("an invoke whose answer does not fit gets a repair", async () => {
    const { status, json } = await tenant.post(at("invoke"), { input, preferredModel: "sandbox-malformed" });
    expect(status).toBe(200);
    expect(json.typedOutput).toEqual({ name: expect.any(String), metres: expect.any(Number) });
    const { json: receipt } = await tenant.get(`/v1/jobs/${json.executionId}/receipt`);
    expect(receipt.attempts[0].submissions).toBe(2);
  });

  test("a stream gets no repair, because its text was already sent", async () => {
    const body = { input, preferredModel: "sandbox-malformed", executionMode: "Stream" };
    const { json } = await tenant.post(at("invoke", "text.general.fast.v1"), body);
    await expect
      .poll(async () => (await tenant.get(`/v1/jobs/${json.executionId}`)).json.status, { timeout: 10_000 })
      .toBe("failed");
    const { json: receipt } = await tenant.get(`/v1/jobs/${json.executionId}/receipt`);
    expect(receipt.error.code).toBe("StructuredOutputInvalid");
    expect(receipt.attempts[0].submissions).toBe(1);
  });

  test("an answer with reasoning only is ReasoningBudgetExhausted", async () => {
    const { job, receipt } = await run({ input, preferredModel: "sandbox-thinker" });
    expect(job.error?.code).toBe("ReasoningBudgetExhausted");
    expect(receipt.usage.reasoningTokens).toBe(receipt.usage.outputTokens);
  });
});

describe("a schema that cannot be used for validation", () => {
  test.each<[string, object, (string | number)[]]>([
    [
      "in the input",
      { input: { messages, responseSchema: { $ref: "https://x.test" } } },
      ["input", "responseSchema", "$ref"],
    ],
    ["beside it", { input: { messages }, responseSchema: { type: "thing" } }, ["responseSchema", "type"]],
    [
      "with look-around",
      { input: { messages, responseSchema: { properties: { a: { pattern: "(?=a)" } } } } },
      ["input", "responseSchema", "properties", "a", "pattern"],
    ],
    [
      "that allows no object",
      { input: { messages, responseSchema: { type: "array" } } },
      ["input", "responseSchema", "type"],
    ],
    ["given twice, differently", { input, responseSchema: {} }, ["responseSchema"]],
  ])("a schema %s is refused before anything is sent", async (_case, body, field) => {
    // A quote accepts no schema beside its input.
    const isBeside = "responseSchema" in body;
    for (const what of ["invoke", "jobs", ...(isBeside ? [] : ["quote"])]) {
      const { status, json } = await tenant.post(at(what), body);
      expect(status).toBe(422);
      expect(json.detail[0].loc).toEqual(["body", ...field]);
    }
  });
});

describe("models by grade", () => {
  const model = async (key: string, more: object = {}) =>
    (await tenant.post(at("quote", key), { input: { messages }, ...more })).json.resolved?.model ?? null;

  test("each kind of text goes to a model made for it", async () => {
    expect(await model("text.general.fast.v1")).toBe("sandbox-1");
    expect(await model("text.reasoning.high.v1")).toBe("sandbox-2");
    expect(await model("text.reasoning.maximum.v1")).toBe("sandbox-2");
    expect(await model("text.structured.adjudication.v1")).toBe("sandbox-2");
    expect(await model("text.creative.longform.v1")).toBe("sandbox-1");
  });

  test("a model that is not made for the kind is refused even by name", async () => {
    const body = { input: { messages }, preferredModel: "sandbox-1" };
    const { status, json } = await tenant.post(at("jobs", "text.reasoning.maximum.v1"), body);
    expect([status, json.code]).toEqual([409, "ROUTE_UNAVAILABLE"]);
    expect(json.details.alternates).toEqual(["sandbox/sandbox-2"]);
  });

  test("a text too long for the chosen model is refused, not cut", async () => {
    const content = "word ".repeat(200_000);
    const body = { input: { messages: [{ role: "user", content }] } };
    const short = await tenant.post(at("quote", "text.general.fast.v1"), body);
    expect([short.status, short.json.detail.code]).toEqual([422, "PromptTooLong"]);
    expect((await tenant.post(at("quote", "text.reasoning.maximum.v1"), body)).status).toBe(200);
  });

  test.each([
    "text.reasoning.high.v1",
    "text.reasoning.maximum.v1",
    "text.creative.longform.v1",
    "text.structured.ranking.v1",
    "text.structured.adjudication.v1",
  ])("%s runs from end to end", async (key) => {
    const { job } = await run({ input: { messages } }, key);
    expect(job.status).toBe("succeeded");
    if (key.startsWith("text.structured")) expect(job.typedOutput).toBeTypeOf("object");
    else expect(job.typedOutput).toMatchObject({ role: "assistant", content: expect.any(String) });
    if (key === "text.creative.longform.v1") return;
    const { status } = await tenant.post(at("invoke", key), { input: { messages } });
    expect(status).toBe(200);
  });

  test("long creative text runs only as a durable job", async () => {
    const { status, json } = await tenant.post(at("invoke", "text.creative.longform.v1"), {
      input: { messages },
    });
    expect([status, json.code]).toEqual([400, "USE_JOBS"]);
  });
});
