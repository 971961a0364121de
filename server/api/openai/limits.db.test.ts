import { expect, test } from "vitest";
import { serveOpenAI } from "./client.fixture";

/*
 * An answer that reaches its token limit: OpenAI's endpoints return the partial answer with its reason, others an error with
 * the partial text.
 */

const FAST = "text.general.fast.v1";
const messages = [{ role: "user" as const, content: "Write 20 sentences about rivers." }];

const world = serveOpenAI({ maxRetries: 0 });

test("a completion that reaches its limit is 200 with finish_reason length and its text, charged by usage", async () => {
  const headers = { "Idempotency-Key": "cut" };
  const ask = () =>
    world.client.chat.completions.create({ model: FAST, messages, max_tokens: 8 }, { headers });
  const answer = await ask();
  expect(answer.choices[0]).toMatchObject({
    finish_reason: "length",
    message: { content: expect.stringMatching(/^Point 1 on/) },
  });
  expect(answer.usage?.completion_tokens).toBe(8);
  expect(await ask()).toEqual(answer); // replayed
  expect((await world.tenant.get(`/v1/jobs/${answer.id}`)).json).toMatchObject({ status: "succeeded" });
  const receipt = (await world.tenant.get(`/v1/jobs/${answer.id}/receipt`)).json;
  expect(receipt).toMatchObject({ status: "succeeded", error: null, holdState: "settled" });
  expect(receipt.pricing.providerCost.amount.amountMicros).toBeGreaterThan(0);
});

test("a streamed completion that reaches its limit ends with finish_reason length, after its text", async () => {
  const stream = world.client.chat.completions.stream({ model: FAST, messages, max_tokens: 8 });
  let text = "";
  let reason: string | null | undefined = null;
  for await (const { choices } of stream) {
    text += choices[0]?.delta.content ?? "";
    reason = choices[0]?.finish_reason ?? reason;
  }
  expect(reason).toBe("length");
  expect(text).toMatch(/^Point 1 on/);
});

test("a response is incomplete for max_output_tokens, with its text, streamed or not", async () => {
  const asked = { model: FAST, input: "Write 20 sentences about rivers.", max_output_tokens: 16 };
  const incomplete = {
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: [{ type: "message", status: "incomplete" }],
  };
  const whole = await world.client.responses.create(asked);
  expect(whole).toMatchObject(incomplete);
  expect(whole.output_text).toMatch(/^Point 1 on/);
  const events = [];
  for await (const event of await world.client.responses.create({ ...asked, stream: true }))
    events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "response.incomplete", response: incomplete });
});

test("a truncated object is returned as received, and thinking that left no tokens for text as an empty text", async () => {
  const response_format = { type: "json_object" as const };
  const object = await world.client.chat.completions.create({
    model: "text.structured.generation.v1",
    messages,
    max_tokens: 4,
    response_format,
  });
  expect(object.choices[0]).toMatchObject({
    finish_reason: "length",
    message: { content: expect.stringMatching(/^\{/) },
  });
  const thought = await world.client.chat.completions.create({
    model: `${FAST}@sandbox/sandbox-thinker`,
    messages,
    max_tokens: 4,
    response_format,
  });
  expect(thought.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "" } });
});

test("an invoke that reaches its limit is an error, and its text can be read", async () => {
  const { status, json } = await world.tenant.post(`/v1/capabilities/${FAST}/invoke`, {
    input: { messages, maxOutputTokens: 8 },
  });
  expect({ status, code: json.code }).toEqual({ status: 502, code: "OutputLimitReached" });
  const result = (await world.tenant.get(`/v1/jobs/${json.details.executionId}/result`)).json;
  expect(result).toMatchObject({
    status: "failed",
    payloadState: "available",
    typedOutput: { content: expect.stringMatching(/^Point 1 on/) },
    error: { code: "OutputLimitReached" },
  });
});
