import { beforeAll, describe, expect, test } from "vitest";
import { ChatRequest } from "@/server/contract/openai";
import { ResponsesRequest } from "@/server/contract/openai-responses";
import { serveOwn } from "./own-server.fixture";

/*
 * Every member of both requests, sent to a server that speaks chat completions: it is forwarded, or refused with a sentence
 * before anything is sent, or documented as one that no provider gets (docs/reference/openai-compatibility.md).
 */

const own = serveOwn();
beforeAll(async () => {
  await own.connect({ models: "acme:1:2", passThrough: ["reasoning_effort", "top_k"] });
  own.vendor.answer({
    json: {
      choices: [{ index: 0, message: { content: '{"a":1}' }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    },
  });
});

/** The outcome of a value: members of the body that is sent, a refusal that names the member, or nothing, as documented. */
type Fate = { sent: object } | { refused: true } | { unsent: true };
type Row = { value: unknown; fate: Fate; beside?: object };

const sent = (value: unknown, body: object, beside: object = {}): Row => ({
  value,
  fate: { sent: body },
  beside,
});
const refused = (...values: unknown[]): Row[] => values.map((value) => ({ value, fate: { refused: true } }));
const unsent = (...values: unknown[]): Row[] => values.map((value) => ({ value, fate: { unsent: true } }));

const messages = [{ role: "user", content: "Hi" }];
const schema = { type: "object", properties: { a: { type: "integer" } } };
const tool = { name: "look", description: "Looks.", parameters: schema, strict: true };
const nested = { type: "function", function: tool };

/** Members that both requests have. */
const SHARED: Record<string, Row[]> = {
  model: [sent("openai-compatible/acme", { model: "acme" })],
  stream: [sent(false, { stream: false }), ...refused("yes", 1)],
  temperature: [sent(0.5, { temperature: 0.5 }), ...refused("1", 3, -1)],
  top_p: [sent(0.5, { top_p: 0.5 }), ...unsent(1), ...refused(2, "1")],
  metadata: [...unsent({ ticket: "9" }), ...refused("x", { a: 1 })],
  parallel_tool_calls: [...unsent(true), ...refused("no")],
  service_tier: [...unsent("auto", "default"), ...refused("flex", "priority", 1)],
  user: unsent("ada"),
  safety_identifier: unsent("ada"),
  prompt_cache_key: unsent("k"),
  prompt_cache_retention: unsent("24h"),
  store: unsent(true, false),
  top_k: [sent(5, { top_k: 5 })],
  mirostat: refused(2),
};

const CHAT: Record<string, Row[]> = {
  ...SHARED,
  parallel_tool_calls: [
    ...SHARED.parallel_tool_calls!,
    sent(false, { parallel_tool_calls: false }, { tools: [nested] }),
  ],
  messages: [
    sent([{ role: "developer", content: "Be short." }, ...messages], {
      messages: [{ role: "system", content: "Be short." }, ...messages],
    }),
    ...refused([], "Hi", [{ role: "narrator", content: "x" }]),
  ],
  max_completion_tokens: [sent(9, { max_tokens: 9 }), ...refused(0, 1.5, "9")],
  max_tokens: [sent(9, { max_tokens: 9 }), ...refused(0, "9")],
  reasoning_effort: [
    sent("high", { reasoning_effort: "high" }),
    sent("minimal", { reasoning_effort: "low" }),
    ...unsent("none"),
    ...refused("most", 1),
  ],
  response_format: [
    ...unsent({ type: "text" }),
    sent({ type: "json_object" }, { response_format: { type: "json_object" } }),
    sent(
      { type: "json_schema", json_schema: { name: "thing", strict: true, schema, description: "A thing." } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "thing", strict: true, schema: { ...schema, description: "A thing." } },
        },
      },
    ),
    ...refused({ type: "grammar" }, { type: "json_object", schema }, "json_object"),
  ],
  tools: [
    sent([nested], { tools: [nested] }),
    ...refused([{ type: "custom", custom: { name: "x" } }], [{ ...nested, cache: true }]),
  ],
  tool_choice: [
    sent("required", { tool_choice: "required" }, { tools: [nested] }),
    sent(
      { type: "function", function: { name: "look" } },
      { tool_choice: { type: "function", function: { name: "look" } } },
      { tools: [nested] },
    ),
    ...refused("required", "some"),
  ],
  stream_options: refused({ include_usage: true }, { include_usage: 1 }),
  n: [sent(2, { n: 2 }), ...unsent(1), ...refused(0, "2")],
  stop: [
    sent("a", { stop: ["a"] }),
    sent(["a", "b"], { stop: ["a", "b"] }),
    ...unsent([]),
    ...refused("", [""]),
  ],
  seed: [sent(7, { seed: 7 }), ...refused("7", 1.5)],
  frequency_penalty: [sent(0.5, { frequency_penalty: 0.5 }), ...unsent(0), ...refused(3)],
  presence_penalty: [sent(-0.5, { presence_penalty: -0.5 }), ...unsent(0), ...refused(-3)],
  logprobs: [...unsent(false), ...refused(true)],
  top_logprobs: [...unsent(0), ...refused(1)],
  modalities: [...unsent(["text"]), ...refused(["text", "audio"], ["audio"])],
};

const RESPONSES: Record<string, Row[]> = {
  ...SHARED,
  parallel_tool_calls: [
    ...SHARED.parallel_tool_calls!,
    sent(false, { parallel_tool_calls: false }, { tools: [{ type: "function", ...tool }] }),
  ],
  input: [sent("Hi", { messages }), ...refused([], 7, [{ type: "computer_call" }])],
  instructions: [
    sent("Be short.", { messages: [{ role: "system", content: "Be short." }, ...messages] }),
    ...refused(["x"]),
  ],
  max_output_tokens: [sent(9, { max_tokens: 9 }), ...refused(0, "9")],
  reasoning: [
    sent({ effort: "high" }, { reasoning_effort: "high" }),
    ...unsent({ effort: "none" }),
    ...refused({ effort: "most" }, { summary: "auto" }, { budget: 1 }),
  ],
  text: [
    ...unsent({ format: { type: "text" } }, { verbosity: "medium" }),
    sent(
      { format: { type: "json_schema", name: "thing", strict: false, schema } },
      {
        response_format: { type: "json_schema", json_schema: { name: "thing", strict: false, schema } },
      },
    ),
    ...refused({ verbosity: "low" }, { format: { type: "grammar" } }),
  ],
  tools: [
    sent([{ type: "function", ...tool }], { tools: [nested] }),
    ...refused([{ type: "web_search" }], [{ type: "function", ...tool, cache: true }]),
  ],
  tool_choice: [
    sent("required", { tool_choice: "required" }, { tools: [{ type: "function", ...tool }] }),
    ...refused("required", "some"),
  ],
  stream_options: [...unsent({ include_obfuscation: false }), ...refused({ include_usage: true })],
  include: [...unsent(["reasoning.encrypted_content"]), ...refused(["message.output_text.logprobs"])],
  previous_response_id: refused("resp_1"),
  conversation: refused("conv_1", {}),
  prompt: refused({ id: "p" }),
  background: [...unsent(false), ...refused(true)],
  truncation: [...unsent("disabled"), ...refused("auto")],
  top_logprobs: [...unsent(0), ...refused(1)],
};

const DOORS = [
  { path: "/v1/chat/completions", rows: CHAT, shape: ChatRequest.shape, base: { messages } },
  { path: "/v1/responses", rows: RESPONSES, shape: ResponsesRequest.shape, base: { input: "Hi" } },
];

describe.each(DOORS)("$path", ({ path, rows, shape, base }) => {
  test("every member of the request has its row", () => {
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(Object.keys(shape)));
  });

  let plain: Record<string, unknown>;
  const post = async (body: object) => {
    const count = own.vendor.arrived.length;
    const answer = await own.tenant.post(path, { model: "openai-compatible/acme", ...base, ...body });
    const arrived = own.vendor.arrived.slice(count).map((each) => JSON.parse(each.body));
    return { ...answer, arrived };
  };
  beforeAll(async () => {
    plain = (await post({ metadata: { of: "the plain request" } })).arrived[0];
  });

  const cases = Object.entries(rows).flatMap(([name, all]) => all.map((row) => ({ name, ...row })));
  test.each(cases)("$name: $value", async ({ name, value, fate, beside = {} }) => {
    const { status, text, json, arrived } = await post({ ...beside, [name]: value });
    if ("refused" in fate) {
      expect(status, text).toBe(422);
      expect(json.error.param.split(/[.[]/)[0]).toBe(name);
      expect(json.error.message.length).toBeGreaterThan(10);
      expect(arrived).toEqual([]);
      return;
    }
    expect(status, text).toBe(200);
    expect(arrived).toHaveLength(1);
    if ("sent" in fate) expect(arrived[0]).toMatchObject(fate.sent);
    // The server gets nothing in addition to a plain request.
    else expect(arrived[0]).toEqual({ ...plain, messages: arrived[0].messages });
  });
});
