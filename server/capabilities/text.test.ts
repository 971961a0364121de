import { describe, expect, test } from "vitest";
import type { ModelFacts, TextResult } from "@/server/providers/define";
import { type CallOptions, type CapabilityDefinition, CapabilityFault } from "./define";
import general from "./text.general.fast.v1";
import structured from "./text.structured.generation.v1";

// The registry forgets input types; here they are known.
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
/** They read nothing before their call. */
const NOTHING = undefined as never;
const messages = [{ role: "user", content: "Hello" }];

function execution(name: Name) {
  const { execute } = capabilities[name];
  if ("local" in execute || execute.port !== "text") throw new Error("not a text capability");
  return execute;
}
const parse = (name: Name, input: unknown) => capabilities[name].input.safeParse(input);
const call = (name: Name, input: object, options: CallOptions = {}, model = able) =>
  execution(name).call(capabilities[name].input.parse({ messages, ...input }), options, model, NOTHING);
const accepts = (name: Name, input: object, model: ModelFacts) =>
  execution(name).accepts?.(capabilities[name].input.parse({ messages, ...input }), model);
const settle = async (name: Name, result: Partial<TextResult>) =>
  execution(name).result(
    { text: "", finishReason: "stop", toolCalls: [], ...result },
    { messages },
    NOTHING,
    able,
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
  test("its own examples pass", () => {
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

  test("the cap is the caller's, else the capability's, never above the model's or the run's own", () => {
    const budget = name === "general" ? 8_192 : 16_384;
    const wide = { ...able, maxOutputTokens: 100_000 };
    expect(call(name, {}, {}, wide).maxOutputTokens).toBe(budget);
    expect(call(name, {}).maxOutputTokens).toBe(4_000);
    expect(call(name, { maxOutputTokens: 9 }).maxOutputTokens).toBe(9);
    expect(call(name, {}, { maxOutputTokens: 2048 }).maxOutputTokens).toBe(2048);
    expect(call(name, { maxOutputTokens: 9 }, { maxOutputTokens: 2048 }).maxOutputTokens).toBe(9);
    const bounds = execution(name).bounds({ messages, maxOutputTokens: 9 }, able);
    expect(bounds).toEqual({ outputTokens: 9 });
  });

  test("sampling and tools pass through only when they are given", () => {
    expect(Object.keys(call(name, {})).sort()).toEqual(["maxOutputTokens", "messages", "responseFormat"]);
    const options = { temperature: 0, reasoningIntent: "deep" as const, tools: [{ name: "t" }] };
    expect(call(name, {}, options)).toMatchObject(options);
  });

  test("a schema asks for exactly itself, wherever it was given", () => {
    const schema = { type: "object" };
    const expected = { type: "json_schema", name: "answer", schema };
    expect(call(name, { responseSchema: schema }).responseFormat).toEqual(expected);
    expect(call(name, {}, { responseSchema: schema }).responseFormat).toEqual(expected);
  });

  test("a model that cannot do it is not taken", () => {
    expect(accepts(name, {}, able)).toBe(true);
    expect(accepts(name, { maxOutputTokens: 4_001 }, able)).toBe(false);
    expect(accepts(name, { responseSchema: {} }, { ...able, supports: { jsonObject: true } })).toBe(false);
    expect(accepts(name, { responseFormat: "json_object" }, { ...able, supports: {} })).toBe(false);
  });

  test.each<[Partial<TextResult>, string]>([
    [{ text: "", finishReason: "stop" }, "PROVIDER_EMPTY_OUTPUT"],
    [{ text: " \n" }, "PROVIDER_EMPTY_OUTPUT"],
    [{ text: '{"a":1', finishReason: "length" }, "OutputLimitReached"],
    [{ text: "", finishReason: "length" }, "OutputLimitReached"],
    [{ text: "x", finishReason: "content_filter" }, "ProviderRejected"],
  ])("%j ends as %s", async (result, code) => expect(await codeOf(() => settle(name, result))).toBe(code));
});

describe("general text", () => {
  test("asks for text unless told otherwise", () => {
    expect(call("general", {}).responseFormat).toEqual({ type: "text" });
    expect(call("general", { responseFormat: "json_object" }).responseFormat).toEqual({
      type: "json_object",
    });
    expect(accepts("general", {}, { ...able, supports: {} })).toBe(true);
  });

  test("answers with content and role, and tool calls when there are any", async () => {
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
  test("always asks for an object", () => {
    expect(call("structured", {}).responseFormat).toEqual({ type: "json_object" });
    expect(call("structured", { responseFormat: "text" }).responseFormat).toEqual({ type: "json_object" });
    expect(accepts("structured", {}, { ...able, supports: {} })).toBe(false);
  });

  test("answers with the object itself", async () => {
    expect(await settle("structured", { text: ' {"a": [1, null]}\n' })).toEqual({
      typedOutput: { a: [1, null] },
      files: [],
    });
  });

  test.each(["text", '"text"', "[1]", "null", '```json\n{"a":1}\n```', '{"a":1} {"b":2}'])(
    "%s is no object",
    async (text) => {
      expect(await codeOf(() => settle("structured", { text }))).toBe("StructuredOutputInvalid");
    },
  );

  test("a tool call alone is no object", async () => {
    const result = {
      toolCalls: [{ id: "1", name: "t", arguments: "{}" }],
      finishReason: "tool_calls" as const,
    };
    expect(await codeOf(() => settle("structured", result))).toBe("StructuredOutputInvalid");
  });
});
