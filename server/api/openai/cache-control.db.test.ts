import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { serveOwn } from "./own-server.fixture";

/*
 * cache_control on OpenAI's endpoints: sent, reserved and charged if the price lists cache writes; otherwise left out and
 * reported.
 */

/** A tenant with a connection of its own, and one that pays the operator. */
const own = serveOwn();
let managed: Tenant;
beforeAll(async () => {
  setSettings({ ANTHROPIC_BASE_URL: own.vendor.url, ANTHROPIC_API_KEY: "sk-1" });
  managed = await makeTenant();
  await own.connect({ models: "small:1:2" });
});

const MARK = { type: "ephemeral" };
const CLAUDE = "anthropic/claude-haiku-4-5";
const SMALL = "openai-compatible/small";
const tool = { name: "look", parameters: { type: "object" } };
/** A mark on a part, on a message and on a tool. */
const marked = (model: string) => ({
  model,
  messages: [
    {
      role: "system",
      content: [
        { type: "text", text: "A long book.", cache_control: { ...MARK, ttl: "1h" } },
        { type: "text", text: "Be short." },
      ],
    },
    { role: "user", content: "Hello", cache_control: MARK },
  ],
  tools: [{ type: "function", function: tool, cache_control: { ...MARK, ttl: "1h" } }],
});
const plain = (model: string) => ({
  model,
  messages: [
    { role: "system", content: "A long book.\nBe short." },
    { role: "user", content: "Hello" },
  ],
  tools: [{ type: "function", function: tool }],
});
const chat = (tenant: Tenant, body: object) => tenant.post("/v1/chat/completions", body);
const sent = () => JSON.parse(own.vendor.arrived[0]?.body ?? "null");

/**
 * Usage: 10 fresh tokens, 100 written to the cache, 40 of them for an hour, and 5 out. Cost: 10 + 60 × 1.25 + 40 × 2 + 25
 * micros.
 */
const CLAUDES = {
  json: {
    id: "msg_1",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
      output_tokens: 5,
    },
  },
};
const COST = 190;
const COMPLETION = {
  json: {
    choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  },
};
const maximumOf = async (id: string) =>
  (await pool.query<{ most: number }>("SELECT maximum_micros AS most FROM job WHERE id = $1", [id])).rows[0]!
    .most;

describe("a model whose price lists cache writes", () => {
  test("cache-control marks are sent in their places, and cache writes are recorded and charged at their rate", async () => {
    own.vendor.answer(CLAUDES);
    const { status, json, text } = await chat(managed, marked(CLAUDE));
    expect(status, text).toBe(200);
    expect(sent()).toMatchObject({
      system: [
        { type: "text", text: "A long book.", cache_control: { ...MARK, ttl: "1h" } },
        { type: "text", text: "Be short." },
      ],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control: MARK }] }],
      tools: [{ name: "look", cache_control: { ...MARK, ttl: "1h" } }],
    });
    const receipt = (await managed.get(`/v1/jobs/${json.id}/receipt`)).json;
    expect(receipt.usage).toMatchObject({
      inputTokens: 110,
      cacheWriteTokens: 100,
      cacheWriteHourTokens: 40,
      outputTokens: 5,
    });
    const job = (await managed.get(`/v1/jobs/${json.id}`)).json;
    expect(job).toMatchObject({ providerCostMicros: COST, warnings: [] });
  });

  test("cache-control marks of a tool call and of its result are sent to the provider", async () => {
    own.vendor.answer(CLAUDES);
    const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
    const { status, text } = await chat(managed, {
      model: CLAUDE,
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: "Yes.", tool_calls: [call], cache_control: MARK },
        {
          role: "tool",
          tool_call_id: "call_1",
          content: [{ type: "text", text: "A cat", cache_control: MARK }],
        },
      ],
      tools: [{ type: "function", function: tool }],
    });
    expect(status, text).toBe(200);
    expect(sent().messages.slice(1)).toMatchObject([
      {
        content: [
          { type: "text", text: "Yes." },
          { type: "tool_use", cache_control: MARK },
        ],
      },
      { content: [{ type: "tool_result", content: "A cat", cache_control: MARK }] },
    ]);
  });

  test("the whole input is reserved at the highest rate of cache writes", async () => {
    own.vendor.answer(CLAUDES);
    const [with_, without] = [
      (await chat(managed, marked(CLAUDE))).json.id,
      (await chat(managed, plain(CLAUDE))).json.id,
    ];
    const output = 2_048 * 5;
    const fee = (micros: number) => micros + Math.round(micros * 0.06);
    const [held, usual] = [await maximumOf(with_), await maximumOf(without)];
    // At 1 dollar a million, the input costs as many micros as it has tokens; a cache write for an hour costs twice that.
    const input = Math.round(usual / 1.06) - output;
    expect(usual).toBe(fee(input + output));
    expect(held).toBe(fee(2 * input + output));
  });

  test("more cache-control marks than the vendor allows are refused before sending", async () => {
    own.vendor.answer(CLAUDES);
    const messages = Array.from({ length: 5 }, () => ({ role: "user", content: "Hi", cache_control: MARK }));
    const { status, json } = await chat(managed, { model: CLAUDE, messages });
    expect([status, json.error.param]).toEqual([422, "messages"]);
    expect(json.error.message).toContain("more than 4 cache_control marks");
    expect(own.vendor.arrived).toEqual([]);
  });

  test("the Responses interface accepts cache-control marks on parts, tool results and tools", async () => {
    own.vendor.answer(CLAUDES);
    const { status, text } = await managed.post("/v1/responses", {
      model: CLAUDE,
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "The book.", cache_control: MARK },
            { type: "input_text", text: "Look." },
          ],
        },
        { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "A cat", cache_control: MARK },
      ],
      tools: [{ type: "function", ...tool, cache_control: MARK }],
    });
    expect(status, text).toBe(200);
    const { messages, tools } = sent();
    expect(messages[0].content).toEqual([
      { type: "text", text: "The book.", cache_control: MARK },
      { type: "text", text: "Look." },
    ]);
    expect(messages[2].content[0]).toMatchObject({ type: "tool_result", cache_control: MARK });
    expect(tools[0].cache_control).toEqual(MARK);
  });
});

test("a model without prices for cache writes is sent no cache-control marks, and its execution has a warning", async () => {
  own.vendor.answer(COMPLETION);
  const { status, json, text } = await chat(own.tenant, marked(SMALL));
  expect(status, text).toBe(200);
  expect(own.vendor.arrived[0]?.body).not.toContain("cache_control");
  const { messages } = sent();
  expect(messages[0]).toEqual({ role: "system", content: "A long book.\nBe short." });
  const job = (await own.tenant.get(`/v1/jobs/${json.id}`)).json;
  expect(job.warnings).toMatchObject([
    { code: "CacheControlNotSent", details: { field: "cache_control", route: SMALL } },
  ]);
  const events = (await own.tenant.get(`/v1/jobs/${json.id}/events`)).text;
  expect(events).not.toContain("budget_warning");
});

test("tools of the native interface accept the same cache-control mark", async () => {
  own.vendor.answer(COMPLETION);
  const invoke = (cache_control: unknown) =>
    own.tenant.post("/v1/capabilities/text.general.fast.v1/invoke", {
      input: { messages: [{ role: "user", content: "Hi" }] },
      toolSchemas: [{ ...tool, cache_control }],
      execution: { executionConstraints: { preferredModel: SMALL } },
    });
  const { status, json, text } = await invoke(MARK);
  expect(status, text).toBe(200);
  expect(own.vendor.arrived[0]?.body).not.toContain("cache_control");
  expect(json.warnings).toMatchObject([{ code: "CacheControlNotSent" }]);
  for (const wrong of [
    "ephemeral",
    {},
    { type: "forever" },
    { ...MARK, ttl: "2h" },
    { ...MARK, scope: "all" },
  ]) {
    const refused = await invoke(wrong);
    expect([refused.status, refused.json.detail[0]?.loc]).toEqual([
      422,
      ["body", "toolSchemas", 0, "cache_control"],
    ]);
  }
});

describe("a cache-control mark that is invalid or ignored", () => {
  const wrong = [
    ...["", "ephemeral", 1, true, [], {}],
    ...[{ type: "forever" }, { type: ["ephemeral"] }, { ...MARK, ttl: "2h" }, { ...MARK, ttl: 5 }],
    { ...MARK, scope: "all" },
  ];
  test.each(wrong)("a mark of %j is refused on messages, parts and tools", async (cache_control) => {
    const messages = [{ role: "user", content: "Hi" }];
    for (const body of [
      { messages: [{ role: "user", content: "Hi", cache_control }] },
      { messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control }] }] },
      { messages, tools: [{ type: "function", function: tool, cache_control }] },
      { messages, tools: [{ type: "function", function: { ...tool, cache_control } }] },
    ]) {
      const { status, json } = await chat(own.tenant, { model: SMALL, ...body });
      expect([status, json.error.param?.replace(/[[.].*$/, "")]).toEqual([422, Object.keys(body).at(-1)]);
    }
    const input = [{ role: "user", content: "Hi", cache_control }];
    expect((await own.tenant.post("/v1/responses", { model: SMALL, input })).status).toBe(422);
  });

  test("a mark on empty content is refused at its place", async () => {
    const ask = async (message: object) =>
      (await chat(managed, { model: CLAUDE, messages: [{ role: "user", content: "Hi" }, message] })).json
        .error?.param;
    expect(await ask({ role: "user", content: "", cache_control: MARK })).toBe("messages[1]");
    const content = [
      { type: "text", text: "Hi" },
      { type: "text", text: "", cache_control: MARK },
    ];
    expect(await ask({ role: "user", content })).toBe("messages[1].content[1]");
  });

  test("a mark of an answer or a result, which 0.2.0 ignored, replays what 0.2.0 stored under the key", async () => {
    own.vendor.answer(COMPLETION);
    const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
    const ask = (more: object, user: object = {}) =>
      own.tenant.post(
        "/v1/chat/completions",
        {
          model: SMALL,
          messages: [
            { role: "user", content: "Look.", ...user },
            { role: "assistant", content: null, tool_calls: [call], ...more },
            { role: "tool", tool_call_id: "call_1", content: "A cat", ...more },
          ],
          tools: [{ type: "function", function: tool }],
        },
        { headers: { "idempotency-key": "an answer of 0.2.0" } },
      );
    const stored = await ask({});
    expect(stored.status, stored.text).toBe(200);
    expect((await ask({ cache_control: MARK })).json.id).toBe(stored.json.id);
    expect((await ask({}, { cache_control: MARK })).status).toBe(409);
  });

  test("a mark that is null is ignored, and the request is the same", async () => {
    own.vendor.answer(COMPLETION);
    const headers = { "idempotency-key": "a mark of null" };
    const ask = (body: object) => own.tenant.post("/v1/chat/completions", body, { headers });
    const bare = await ask({ model: SMALL, messages: [{ role: "user", content: "Hi" }] });
    const messages = [
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: null }], cache_control: null },
    ];
    expect((await ask({ model: SMALL, messages })).json.id).toBe(bare.json.id);
    const other = [{ role: "user", content: "Hi", cache_control: MARK }];
    expect((await ask({ model: SMALL, messages: other })).status).toBe(409);
  });
});
