import { afterAll, describe, expect, test } from "vitest";
import { closeSchemaPool } from "@/server/compute/json-schema";
import type { ModelFacts, TextResult, Usage } from "@/server/providers/define";
import { type CallOptions, type CapabilityDefinition, CapabilityFault, InputFault } from "./define";
import general from "./text.general.fast.v1";
import structured from "./text.structured.generation.v1";

afterAll(closeSchemaPool);

// The registry erases input types; these tests know them.
type Known = CapabilityDefinition<unknown, unknown>;
const capabilities = { general: general as unknown as Known, structured: structured as unknown as Known };
type Name = keyof typeof capabilities;

const able: ModelFacts = {
  id: "m",
  port: "text",
  title: "M",
  price: { per: "million_tokens", input: 1, output: 1 },
  maxOutputTokens: 4_000,
  supports: { jsonObject: true, jsonSchema: true },
};
const messages = [{ role: "user", content: "Hello" }];

function execution(name: Name) {
  const { execute } = capabilities[name];
  if ("local" in execute || execute.port !== "text") throw new Error("not a text capability");
  return execute;
}
const parse = (name: Name, input: unknown) => capabilities[name].input.safeParse(input);
const materialOf = async (name: Name, input: unknown, options: CallOptions = {}) =>
  (await execution(name).materialize?.(input, [], options)) as never; // the capability's own material
const call = async (name: Name, input: object, options: CallOptions = {}, model = able) => {
  const parsed = capabilities[name].input.parse({ messages, ...input });
  return execution(name).call(parsed, options, model, await materialOf(name, parsed, options));
};
const accepts = (name: Name, input: object, model: ModelFacts) =>
  execution(name).accepts?.(capabilities[name].input.parse({ messages, ...input }), model);
const settle = async (
  name: Name,
  result: Partial<TextResult>,
  {
    input = {},
    model = able,
    usage = null,
  }: { input?: object; model?: ModelFacts; usage?: Usage | null } = {},
) =>
  execution(name).result(
    { text: "", finishReason: "stop", toolCalls: [], ...result },
    { messages, ...input },
    { material: await materialOf(name, { messages, ...input }), model, usage },
  );
const codeOf = async (work: () => unknown) => {
  try {
    await work();
  } catch (error) {
    if (error instanceof CapabilityFault) return error.code;
    throw error;
  }
  return "none";
};

describe.each<Name>(["general", "structured"])("text input of %s", (name) => {
  test("every example is valid", () => {
    for (const { input } of capabilities[name].examples) expect(parse(name, input).success).toBe(true);
  });

  test.each([
    ["no messages", {}],
    ["an empty conversation", { messages: [] }],
    ["an unknown role", { messages: [{ role: "tool", content: "x" }] }],
    ["a message without content", { messages: [{ role: "user" }] }],
    ["content that is no text", { messages: [{ role: "user", content: [] }] }],
    ["an extra field of a message", { messages: [{ role: "user", content: "x", name: "y" }] }],
    ["an extra field", { messages, temperature: 1 }],
    ["a cap of zero", { messages, maxOutputTokens: 0 }],
    ["a fractional cap", { messages, maxOutputTokens: 1.5 }],
    ["an unknown format", { messages, responseFormat: "xml" }],
    ["a schema that is no object", { messages, responseSchema: "schema.json" }],
    ["a schema together with plain text", { messages, responseFormat: "text", responseSchema: {} }],
  ])("%s is refused", (_case, input) => expect(parse(name, input).success).toBe(false));

  test("the limit is the caller's or the capability's, and never above the model's or the run's", async () => {
    const budget = name === "general" ? 8_192 : 16_384;
    const wide = { ...able, maxOutputTokens: 100_000 };
    expect((await call(name, {}, {}, wide)).maxOutputTokens).toBe(budget);
    expect((await call(name, {})).maxOutputTokens).toBe(4_000);
    expect((await call(name, { maxOutputTokens: 9 })).maxOutputTokens).toBe(9);
    expect((await call(name, { maxOutputTokens: 9_000 })).maxOutputTokens).toBe(4_000);
    expect((await call(name, {}, { maxOutputTokens: 2048 })).maxOutputTokens).toBe(2048);
    expect((await call(name, { maxOutputTokens: 9 }, { maxOutputTokens: 2048 })).maxOutputTokens).toBe(9);
    const bounds = execution(name).bounds({ messages, maxOutputTokens: 9 }, able);
    expect(bounds).toEqual({ outputTokens: 9 });
  });

  test("sampling and tools are in the call only if they are given", async () => {
    expect(Object.keys(await call(name, {})).sort()).toEqual([
      "maxOutputTokens",
      "messages",
      "responseFormat",
    ]);
    const options = { temperature: 0, reasoningIntent: "deep" as const, tools: [{ name: "t" }] };
    expect(await call(name, {}, options)).toMatchObject(options);
  });

  test("a schema is sent unchanged, inside the input or beside it", async () => {
    const schema = { type: "object" };
    const expected = { type: "json_schema", name: "answer", schema };
    expect((await call(name, { responseSchema: schema })).responseFormat).toEqual(expected);
    expect((await call(name, {}, { responseSchema: schema })).responseFormat).toEqual(expected);
    const both = await call(name, { responseSchema: schema }, { responseSchema: { ...schema } });
    expect(both.responseFormat).toEqual(expected);
  });

  test.each<[string, object, CallOptions, (string | number)[]]>([
    ["two that differ", { responseSchema: { type: "object" } }, { responseSchema: {} }, ["responseSchema"]],
    ["one with plain text", { responseFormat: "text" }, { responseSchema: {} }, ["input", "responseFormat"]],
    ["a broken one", { responseSchema: { type: "x" } }, {}, ["input", "responseSchema", "type"]],
    ["a broken one beside", {}, { responseSchema: { $ref: "http://x" } }, ["responseSchema", "$ref"]],
  ])("a schema given as %s is refused at its field", async (_case, input, options, field) => {
    const refused = await call(name, input, options).catch((cause: unknown) => cause);
    expect(refused).toBeInstanceOf(InputFault);
    expect((refused as InputFault).field).toEqual(field);
  });

  test("a model without schema support gets an instruction after the caller's own", async () => {
    const schema = { type: "object", required: ["a"] };
    const [first, last] = [{ role: "system", content: "Be brief." }, ...messages];
    const input = { messages: [first, last], responseSchema: schema };
    const loose = { ...able, supports: { jsonObject: true } };
    const asked = await call(name, input, {}, loose);
    expect(asked.messages[0]).toEqual(first);
    expect(asked.messages[2]).toEqual(last);
    expect(asked.messages[1]?.content).toContain(JSON.stringify(schema));
    expect((await call(name, input, {}, { ...able, supports: {} })).responseFormat).toEqual({ type: "text" });
  });

  test("the error about an unfit answer names the violated keywords and quotes nothing", async () => {
    const input = { responseSchema: { type: "object", required: ["a"], additionalProperties: false } };
    const text = '{"secret": 1}';
    const unfit = await settle(name, { text }, { input }).catch((cause: unknown) => cause);
    expect(unfit).toMatchObject({
      code: "StructuredOutputInvalid",
      message: "The model's answer does not match the schema (required, additionalProperties).",
    });
  });

  test("a model with native schema support ranks above one without, and both are accepted", () => {
    expect(accepts(name, {}, able)).toBe(true);
    // A limit above the model's is a hint that it cannot follow completely, and no reason to refuse.
    const fits = (maxOutputTokens: number) => execution(name).fits?.({ messages, maxOutputTokens }, able);
    expect([fits(4_000), fits(4_001)]).toEqual([true, false]);
    expect(accepts(name, { maxOutputTokens: 4_001 }, able)).toBe(true);
    const wordy = { ...able, supports: {} };
    expect(accepts(name, { responseSchema: {} }, wordy)).toBe(true);
    const rank = (model: ModelFacts) =>
      execution(name).prefers?.(capabilities[name].input.parse({ messages, responseSchema: {} }), model) ?? 0;
    expect(rank(able)).toBeGreaterThan(rank(wordy));
  });

  test("output that was all reasoning has another error code than output that was cut", async () => {
    const cut = { text: "", finishReason: "length" as const };
    const usage = { outputTokens: 9, reasoningTokens: 9 };
    expect(await codeOf(() => settle(name, cut, { usage }))).toBe("ReasoningBudgetExhausted");
    expect(await codeOf(() => settle(name, { ...cut, text: "{" }, { usage }))).toBe("OutputLimitReached");
  });

  test.each<[Partial<TextResult>, string]>([
    [{ text: "", finishReason: "stop" }, "PROVIDER_EMPTY_OUTPUT"],
    [{ text: " \n" }, "PROVIDER_EMPTY_OUTPUT"],
    [{ text: '{"a":1', finishReason: "length" }, "OutputLimitReached"],
    [{ text: "", finishReason: "length" }, "OutputLimitReached"],
    [{ text: "x", finishReason: "content_filter" }, "ProviderRejected"],
  ])("%j fails with %s", async (result, code) => expect(await codeOf(() => settle(name, result))).toBe(code));
});

describe("general text", () => {
  test("text is the default format", async () => {
    expect((await call("general", {})).responseFormat).toEqual({ type: "text" });
    const json = await call("general", { responseFormat: "json_object" });
    expect(json.responseFormat).toEqual({ type: "json_object" });
    expect(accepts("general", {}, { ...able, supports: {} })).toBe(true);
  });

  test("an answer to a JSON request must be JSON", async () => {
    const input = { responseFormat: "json_object" };
    expect(await codeOf(() => settle("general", { text: "Hi" }, { input }))).toBe("StructuredOutputInvalid");
    const whole = await settle("general", { text: ' {"a":1}' }, { input });
    expect(whole.typedOutput).toEqual({ content: ' {"a":1}', role: "assistant" });
  });

  test("the output has content and role, and tool calls if there are any", async () => {
    expect(await settle("general", { text: "Hi" })).toEqual({
      typedOutput: { content: "Hi", role: "assistant" },
      files: [],
    });
    const toolCalls = [{ id: "1", name: "t", arguments: "{}" }];
    expect((await settle("general", { toolCalls, finishReason: "tool_calls" })).typedOutput).toEqual({
      content: "",
      role: "assistant",
      toolCalls,
    });
  });
});

describe("structured generation", () => {
  test("the answer format is always an object", async () => {
    expect((await call("structured", {})).responseFormat).toEqual({ type: "json_object" });
    const text = await call("structured", { responseFormat: "text" });
    expect(text.responseFormat).toEqual({ type: "json_object" });
    const list = await call("structured", { responseSchema: { type: "array" } }).catch((cause) => cause);
    expect(list).toMatchObject({ field: ["input", "responseSchema", "type"] });
  });

  test.each([
    ["is asked in words", { ...able, supports: {} }],
    ["promises JSON", able],
  ])(
    "a model that %s may put its object into a code block, and reasoning before it",
    async (_name, model) => {
      for (const text of ['```json\n{"a":1}\n```', '<think>{"b":2}</think>\n{"a":1}']) {
        const whole = await settle("structured", { text }, { model });
        expect(whole.typedOutput).toEqual({ a: 1 });
      }
    },
  );

  test.each(['{"a":12345678901234567890}', '{"a":1,"a":2}', '{"a":1e400}'])(
    "%s is refused, since parsing would change its content",
    async (text) => {
      expect(await codeOf(() => settle("structured", { text }))).toBe("StructuredOutputInvalid");
    },
  );

  test("the output is the object itself", async () => {
    expect(await settle("structured", { text: ' {"a": [1, null]}\n' })).toEqual({
      typedOutput: { a: [1, null] },
      files: [],
    });
  });

  test.each(["text", '"text"', "[1]", "null", "```\n[1]\n```", '{"a":1} {"b":2}'])(
    "the answer %s is refused, because it is not one JSON object",
    async (text) => {
      expect(await codeOf(() => settle("structured", { text }))).toBe("StructuredOutputInvalid");
    },
  );

  test("a tool call without an object is refused", async () => {
    const result = {
      toolCalls: [{ id: "1", name: "t", arguments: "{}" }],
      finishReason: "tool_calls" as const,
    };
    expect(await codeOf(() => settle("structured", result))).toBe("StructuredOutputInvalid");
  });
});
