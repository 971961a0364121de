import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";

/* An answer that reaches its limit: on the OpenAI door half an answer with its reason, elsewhere an error beside its text. */

const FAST = "text.general.fast.v1";
const messages = [{ role: "user" as const, content: "Write 20 sentences about rivers." }];

let tenant: Tenant;
let server: WebServer;
let client: OpenAI;

beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  client = new OpenAI({ apiKey: tenant.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await server.stop(1_000);
});

test("a completion is 200 with finish_reason length and its text, charged by its usage", async () => {
  const headers = { "Idempotency-Key": "cut" };
  const ask = () => client.chat.completions.create({ model: FAST, messages, max_tokens: 8 }, { headers });
  const answer = await ask();
  expect(answer.choices[0]).toMatchObject({
    finish_reason: "length",
    message: { content: expect.stringMatching(/^Point 1 on/) },
  });
  expect(answer.usage?.completion_tokens).toBe(8);
  expect(await ask()).toEqual(answer); // replayed
  expect((await tenant.get(`/v1/jobs/${answer.id}`)).json).toMatchObject({ status: "succeeded" });
  const receipt = (await tenant.get(`/v1/jobs/${answer.id}/receipt`)).json;
  expect(receipt).toMatchObject({ status: "succeeded", error: null, holdState: "settled" });
  expect(receipt.pricing.providerCost.amount.amountMicros).toBeGreaterThan(0);
});

test("a streamed completion ends so, too", async () => {
  const stream = client.chat.completions.stream({ model: FAST, messages, max_tokens: 8 });
  let text = "";
  let reason: string | null | undefined = null;
  for await (const { choices } of stream) {
    text += choices[0]?.delta.content ?? "";
    reason = choices[0]?.finish_reason ?? reason;
  }
  expect(reason).toBe("length");
  expect(text).toMatch(/^Point 1 on/);
});

test("a response is incomplete, for max_output_tokens, with its text, streamed or not", async () => {
  const asked = { model: FAST, input: "Write 20 sentences about rivers.", max_output_tokens: 16 };
  const incomplete = {
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: [{ type: "message", status: "incomplete" }],
  };
  const whole = await client.responses.create(asked);
  expect(whole).toMatchObject(incomplete);
  expect(whole.output_text).toMatch(/^Point 1 on/);
  const events = [];
  for await (const event of await client.responses.create({ ...asked, stream: true })) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "response.incomplete", response: incomplete });
});

test("an object that was cut off is answered as far as it came, and thinking that left no room as nothing", async () => {
  const response_format = { type: "json_object" as const };
  const object = await client.chat.completions.create({
    model: "text.structured.generation.v1",
    messages,
    max_tokens: 4,
    response_format,
  });
  expect(object.choices[0]).toMatchObject({
    finish_reason: "length",
    message: { content: expect.stringMatching(/^\{/) },
  });
  const thought = await client.chat.completions.create({
    model: `${FAST}@sandbox/sandbox-thinker`,
    messages,
    max_tokens: 4,
    response_format,
  });
  expect(thought.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "" } });
});

test("an invoke stays an error, and its text can be read", async () => {
  const { status, json } = await tenant.post(`/v1/capabilities/${FAST}/invoke`, {
    input: { messages, maxOutputTokens: 8 },
  });
  expect({ status, code: json.code }).toEqual({ status: 502, code: "OutputLimitReached" });
  const result = (await tenant.get(`/v1/jobs/${json.details.executionId}/result`)).json;
  expect(result).toMatchObject({
    status: "failed",
    payloadState: "available",
    typedOutput: { content: expect.stringMatching(/^Point 1 on/) },
    error: { code: "OutputLimitReached" },
  });
});
