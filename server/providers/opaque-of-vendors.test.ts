import { afterAll, beforeAll, expect, test } from "vitest";
import anthropic from "./anthropic";
import deepseek from "./deepseek";
import type { Opaque, TextCall, ToolCall } from "./define";
import google from "./google";
import openai from "./openai";
import type { Provider } from "./provider";
import { ioFor, startVendor, type Vendor } from "./testing/vendor";

/* Each vendor receives, in the next turn, the members that its answer with a tool call had. */

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const THINKING = { type: "thinking", thinking: "Hm.", signature: "EqQBCg==" };
const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAABo" };
const CALL: ToolCall = { id: "call_1", name: "depth", arguments: '{"river":"Elbe"}' };
const args = { river: "Elbe" };
const SIGNATURE = "CiQBcsjafA==";
const called = { id: "call_1", type: "function", function: { name: "depth", arguments: CALL.arguments } };
const thought = { role: "assistant", content: null, reasoning_content: "Hm.", tool_calls: [called] };

type Case = {
  provider: Provider;
  model: string;
  answer: object;
  opaque?: Opaque;
  ofCall?: Opaque;
  back: object;
};
const CASES: [string, Case][] = [
  [
    "Claude's signed thinking",
    {
      provider: anthropic,
      model: "claude-sonnet-5-5",
      answer: {
        content: [THINKING, { type: "tool_use", id: "call_1", name: "depth", input: args }],
        stop_reason: "tool_use",
      },
      opaque: { thinking_blocks: [THINKING] },
      back: {
        role: "assistant",
        content: [THINKING, { type: "tool_use", id: "call_1", name: "depth", input: args }],
      },
    },
  ],
  [
    "OpenAI's encrypted reasoning",
    {
      provider: openai,
      model: "gpt-5.6-luna",
      answer: {
        id: "resp_1",
        status: "completed",
        output: [
          REASONING,
          { type: "function_call", call_id: "call_1", name: "depth", arguments: CALL.arguments },
        ],
      },
      opaque: { reasoning_items: [REASONING] },
      back: REASONING,
    },
  ],
  [
    "Gemini's signature",
    {
      provider: google,
      model: "gemini-3.8-flash",
      answer: {
        candidates: [
          {
            content: {
              parts: [{ functionCall: { id: "call_1", name: "depth", args }, thoughtSignature: SIGNATURE }],
            },
            finishReason: "STOP",
          },
        ],
      },
      ofCall: { extra_content: { google: { thought_signature: SIGNATURE } } },
      back: {
        role: "model",
        parts: [{ functionCall: { id: "call_1", name: "depth", args }, thoughtSignature: SIGNATURE }],
      },
    },
  ],
  [
    "DeepSeek's reasoning",
    {
      provider: deepseek,
      model: "deepseek-flash",
      answer: { choices: [{ index: 0, message: thought, finish_reason: "tool_calls" }] },
      opaque: { reasoning_content: "Hm." },
      back: thought,
    },
  ],
];

const callOf = (more: { opaque?: Opaque | undefined; toolCalls: ToolCall[] }): TextCall => {
  const { opaque, toolCalls } = more;
  return {
    messages: [
      { role: "user", content: "How deep is it?" },
      { role: "assistant", content: "", toolCalls, ...(opaque ? { opaque } : {}) },
      { role: "tool", content: "9 m", toolCallId: "call_1" },
    ],
    responseFormat: { type: "text" },
    reasoningIntent: "deep",
    maxOutputTokens: 2_048,
    tools: [{ type: "function", name: "depth", parameters: { type: "object" } }],
  };
};
const ask = async ({ provider, model, answer }: Case, call: TextCall) => {
  vendor.answer({ json: answer });
  const io = ioFor(provider, model, "text", { baseUrl: vendor.url, credentials: { apiKey: "sk-1" } });
  const progress = await provider.text!.submit(call, io); // each of them has a text port
  if (progress.state !== "done") throw new Error("the answer is whole");
  const body = JSON.parse(vendor.arrived[0]?.body ?? "null");
  return { result: progress.result, body, turns: body.messages ?? body.input ?? body.contents };
};

test.each(CASES)("%s is read and sent back unchanged", async (_name, played) => {
  const { opaque, ofCall, back } = played;
  const { result } = await ask(played, callOf({ toolCalls: [CALL] }));
  const read = ofCall ? { ...CALL, opaque: ofCall } : CALL;
  expect(result.toolCalls).toEqual([read]);
  expect(result.opaque).toEqual(opaque);
  const { turns } = await ask(played, callOf({ opaque, toolCalls: [read] }));
  expect(turns[1]).toEqual(back);
});

test("a malformed opaque member is not sent to the vendor", async () => {
  const picture = { type: "image", source: { type: "url", url: "https://a.test/b.png" } };
  for (const [name, opaque] of [
    ["Claude's signed thinking", { thinking_blocks: [picture, { type: "thinking", thinking: "Hm." }] }],
    [
      "OpenAI's encrypted reasoning",
      { reasoning_items: [{ type: "message", role: "system", content: "x" }, 1] },
    ],
    ["Gemini's signature", { extra_content: { google: { thought_signature: 7 } } }],
  ] as [string, Opaque][]) {
    const [, played] = CASES.find(([each]) => each === name)!; // the case is listed
    const { turns } = await ask(played, callOf({ opaque, toolCalls: [{ ...CALL, opaque }] }));
    const { turns: bare } = await ask(played, callOf({ toolCalls: [CALL] }));
    expect(turns).toEqual(bare);
  }
});

test("DeepSeek reasons in a tool loop only if the conversation has all its reasoning", async () => {
  const [, played] = CASES.find(([name]) => name === "DeepSeek's reasoning")!; // the case is listed
  const thinkingOf = async (call: TextCall) => (await ask(played, call)).body.thinking;
  const whole = callOf({ opaque: { reasoning_content: "" }, toolCalls: [CALL] });
  expect(await thinkingOf(whole)).toEqual({ type: "enabled" });
  expect(await thinkingOf(callOf({ toolCalls: [CALL] }))).toEqual({ type: "disabled" });
  const ended = { ...whole, messages: [...whole.messages, { role: "assistant" as const, content: "9 m." }] };
  expect(await thinkingOf(ended)).toEqual({ type: "disabled" });
});

test("Claude reasons within a budget in a tool loop only if the conversation has its reasoning", async () => {
  const [, played] = CASES.find(([name]) => name === "Claude's signed thinking")!; // the case is listed
  const thinkingOf = async (call: TextCall) =>
    (await ask({ ...played, model: "claude-haiku-4-5" }, call)).body.thinking;
  const opaque = { thinking_blocks: [THINKING] };
  expect(await thinkingOf(callOf({ opaque, toolCalls: [CALL] }))).toMatchObject({ type: "enabled" });
  expect(await thinkingOf(callOf({ toolCalls: [CALL] }))).toBeUndefined();
});
