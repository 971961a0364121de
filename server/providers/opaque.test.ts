import { expect, test } from "vitest";
import { isReserved, joinMembers, opaqueOfCall, opaqueOfMessage } from "./opaque";

test("unknown members are opaque, and empty ones are dropped", () => {
  const message = {
    role: "assistant",
    content: "Hi",
    tool_calls: [],
    reasoning_content: "Hm.",
    reasoning_details: [{ type: "reasoning.text", text: "Hm." }],
    annotations: [],
    audio: { id: "audio_1", data: "UklGRg==" },
    images: [{ type: "image_url", image_url: { url: "https://example.com/large.png" } }],
    prefix: false,
    reasoning: "",
    extra_content: {},
  };
  expect(opaqueOfMessage(message)).toEqual({
    reasoning_content: "Hm.",
    reasoning_details: [{ type: "reasoning.text", text: "Hm." }],
  });
  expect(opaqueOfMessage({ role: "assistant", content: "Hi", refusal: null })).toBeUndefined();
  const call = {
    id: "a",
    index: 0,
    type: "function",
    function: {},
    extra_content: { google: {} },
    weight: 0,
  };
  expect(opaqueOfCall(call)).toEqual({ extra_content: { google: {} }, weight: 0 });
});

test("empty reasoning_content is kept, because DeepSeek wants it back", () => {
  expect(opaqueOfMessage({ reasoning_content: "" })).toEqual({ reasoning_content: "" });
});

test("a member that cannot be stored is dropped", () => {
  const deep = JSON.parse(`${"[".repeat(600)}1${"]".repeat(600)}`);
  expect(opaqueOfMessage({ deep, half: "\ud800", far: Number.POSITIVE_INFINITY, good: 1 })).toEqual({
    good: 1,
  });
});

test.each<[string, "message" | "call"]>([
  ["role", "message"],
  ["content", "message"],
  ["tool_calls", "message"],
  ["images", "message"],
  ["audio", "message"],
  ["id", "call"],
  ["function", "call"],
])("the name %s of a %s is reserved", (name, of) => {
  expect(isReserved(name, of)).toBe(true);
  expect(isReserved("extra_content", of)).toBe(false);
});

const joined = (...pieces: Record<string, unknown>[]) => pieces.reduce(joinMembers, {});

test.each<[string, Record<string, unknown>[], Record<string, unknown>]>([
  [
    "texts of reasoning are joined",
    [{ reasoning: "a" }, { reasoning: null }, { reasoning: "b" }],
    { reasoning: "ab" },
  ],
  [
    "empty reasoning stays",
    [{ reasoning_content: null }, { reasoning_content: "" }],
    { reasoning_content: "" },
  ],
  ["other texts come whole", [{ channel: "final" }, { channel: "final" }], { channel: "final" }],
  [
    "objects are merged, and their texts come whole",
    [
      { extra_content: { google: { thought_signature: "s" } } },
      { extra_content: { google: { thought_signature: "s" }, more: 1 } },
    ],
    { extra_content: { google: { thought_signature: "s" }, more: 1 } },
  ],
  [
    "entries of one place and kind are one",
    [
      { reasoning_details: [{ type: "reasoning.text", index: 0, text: "a", format: "f" }] },
      { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "x" }] },
      { reasoning_details: [{ type: "reasoning.text", index: 0, text: "b", signature: null }] },
      { reasoning_details: [{ type: "reasoning.text", index: 0, signature: "sig", format: "f" }] },
    ],
    {
      reasoning_details: [
        { type: "reasoning.text", index: 0, text: "ab", format: "f", signature: "sig" },
        { type: "reasoning.encrypted", index: 1, data: "x" },
      ],
    },
  ],
  [
    "thinking without a place is joined until its signature",
    [
      { thinking_blocks: [{ type: "thinking", thinking: "a" }] },
      { thinking_blocks: [{ type: "thinking", thinking: "b", signature: "s" }] },
      { thinking_blocks: [{ type: "thinking", thinking: "c" }] },
    ],
    {
      thinking_blocks: [
        { type: "thinking", thinking: "ab", signature: "s" },
        { type: "thinking", thinking: "c" },
      ],
    },
  ],
  ["lists are appended", [{ annotations: [1] }, { annotations: [2] }], { annotations: [1, 2] }],
])("streamed members are joined: %s", (_case, pieces, whole) => {
  expect(joined(...pieces)).toEqual(whole);
});

test("lists of 200,000 entries are joined within 20 seconds", {
  timeout: 20_000,
}, () => {
  const entries = () => Array.from({ length: 200_000 }, (_, index) => ({ index, type: "t", text: "a" }));
  const { list } = joined({ list: entries() }, { list: entries() }, { list: [1] }) as { list: unknown[] };
  expect(list).toHaveLength(200_001);
  expect(list[199_999]).toEqual({ index: 199_999, type: "t", text: "aa" });
});

test("names of Object.prototype are ordinary members, and the prototype is not changed", () => {
  const piece = () => JSON.parse('{"__proto__":{"spoiled":1},"constructor":{"a":1},"toString":"b"}');
  expect(Object.entries(joined(piece(), piece()))).toEqual([
    ["constructor", { a: 1 }],
    ["toString", "b"],
  ]);
  expect({}).not.toHaveProperty("spoiled");
});
