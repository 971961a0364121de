import { COST, chunk, completion, DONE, event, stream, type UpstreamCase, usageChunk } from "../upstream";

/*
 * Opaque members of a message or a call that a server needs back: they reach the caller unchanged, and have no other effect.
 */

const TOOLS = {
  tools: [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }],
};
const called = { name: "get_weather", arguments: '{"city":"Rome"}' };
const CALL = { id: "call_1", type: "function", function: called };
const begun = (members: object = {}) =>
  chunk({
    tool_calls: [{ index: 0, ...CALL, ...members, function: { name: called.name, arguments: "" } }],
  });
const args = chunk({ tool_calls: [{ index: 0, function: { arguments: called.arguments } }] });
const ended = (finish: string) => [chunk({}, { finish }), usageChunk(), DONE];
const calls = (opaque?: Record<string, unknown>) => ({
  calls: [{ ...called, ...(opaque ? { opaque } : {}) }],
  finish: "tool_calls" as const,
});

/** A message that calls a tool, whole and in pieces. */
const calling = (members: object, ...pieces: object[]) => ({
  dialect: "chat" as const,
  request: TOOLS,
  whole: completion({ content: null, ...members, tool_calls: [CALL] }, { finish: "tool_calls" }),
  streamed: stream(...pieces.map((each) => chunk(each)), begun(), args, ...ended("tool_calls")),
});

const SIGNED = { extra_content: { google: { thought_signature: "CiQBcsjafA==" } } };
const DETAIL = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
const SEALED = { type: "reasoning.encrypted", format: "openai-responses-v1", index: 1, id: "rs_1" };
const THOUGHT = { type: "thinking", thinking: [{ type: "text", text: "Let me look." }] };
const thought = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
const THINKING = { type: "thinking", thinking: "Hm.", signature: "EqQBCg==" };
const REDACTED = { type: "redacted_thinking", data: "EmwKAhgB" };
const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAABo" };

const OF_CHAT: UpstreamCase[] = [
  {
    name: "opaque-reasoning-content",
    from: [
      "https://api-docs.deepseek.com/guides/thinking_mode",
      "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
    ],
    ...calling(
      { reasoning_content: "Hm. Yes." },
      { reasoning_content: "Hm. " },
      { reasoning_content: "Yes." },
    ),
    expect: { ...calls(), opaque: { reasoning_content: "Hm. Yes." }, cost: COST },
  },
  {
    name: "opaque-reasoning-content-empty",
    from: ["https://api-docs.deepseek.com/guides/thinking_mode"],
    ...calling({ reasoning_content: "" }, { reasoning_content: "" }),
    expect: { ...calls(), opaque: { reasoning_content: "" }, cost: COST },
  },
  {
    name: "opaque-reasoning-details",
    from: ["https://openrouter.ai/docs/use-cases/reasoning-tokens"],
    ...calling(
      {
        reasoning: "Hm.",
        reasoning_details: [
          { ...DETAIL, text: "Hm.", signature: "s" },
          { ...SEALED, data: "gAAA" },
        ],
      },
      { reasoning: "H", reasoning_details: [{ ...DETAIL, text: "H" }] },
      { reasoning: "m.", reasoning_details: [{ ...DETAIL, text: "m." }] },
      { reasoning_details: [{ ...DETAIL, signature: "s" }] },
      { reasoning_details: [{ ...SEALED, data: "gA" }] },
      { reasoning_details: [{ ...SEALED, data: "AA" }] },
    ),
    expect: {
      ...calls(),
      opaque: {
        reasoning: "Hm.",
        reasoning_details: [
          { ...DETAIL, text: "Hm.", signature: "s" },
          { ...SEALED, data: "gAAA" },
        ],
      },
      cost: COST,
    },
  },
  {
    name: "opaque-signature-of-call",
    from: ["openai/openai-python#2758", "langroid/langroid#969"],
    dialect: "chat",
    request: TOOLS,
    whole: completion({ content: null, tool_calls: [{ ...CALL, ...SIGNED }] }, { finish: "tool_calls" }),
    streamed: stream(begun(SIGNED), args, ...ended("tool_calls")),
    expect: { ...calls(SIGNED), opaque: {}, cost: COST },
  },
  {
    name: "opaque-signature-of-message",
    from: ["https://ai.google.dev/gemini-api/docs/thought-signatures"],
    dialect: "chat",
    whole: completion({ content: "Hello", ...SIGNED }),
    streamed: stream(chunk({ content: "Hello" }), chunk({ content: "", ...SIGNED }), ...ended("stop")),
    expect: { text: "Hello", finish: "stop", opaque: SIGNED, cost: COST },
  },
  {
    name: "opaque-thinking-in-content",
    from: ["https://docs.mistral.ai/capabilities/reasoning", "agentjido/req_llm#742"],
    dialect: "chat",
    whole: completion({ content: [THOUGHT, { type: "text", text: "Hello" }] }),
    streamed: stream(
      chunk({ content: [thought("Let me ")] }),
      chunk({ content: [thought("look.")] }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      ...ended("stop"),
    ),
    expect: {
      text: "Hello",
      finish: "stop",
      opaque: { content_parts: [THOUGHT, { type: "text", text: "Hello" }] },
      cost: COST,
    },
  },
  {
    name: "opaque-annotations",
    from: ["https://platform.openai.com/docs/guides/tools-web-search"],
    dialect: "chat",
    ...(() => {
      const annotations = [{ type: "url_citation", url_citation: { url: "https://a.test", title: "A" } }];
      return {
        whole: completion({ content: "Hello", annotations, audio: null, prefix: false }),
        streamed: stream(chunk({ content: "Hello" }), chunk({ annotations }), ...ended("stop")),
        expect: { text: "Hello", finish: "stop" as const, opaque: { annotations }, cost: COST },
      };
    })(),
  },
  {
    name: "opaque-nothing",
    from: ["https://platform.openai.com/docs/api-reference/chat/object"],
    dialect: "chat",
    whole: completion({ content: "Hello", refusal: null, annotations: [], reasoning: "", audio: null }),
    streamed: stream(chunk({ content: "Hello", refusal: null, reasoning: null }), ...ended("stop")),
    expect: { text: "Hello", finish: "stop", opaque: {}, cost: COST },
  },
];

const say = (type: string, members: object = {}) => event({ type, ...members }, type);

const OF_VENDORS: UpstreamCase[] = [
  {
    name: "opaque-thinking-blocks",
    from: ["https://platform.claude.com/docs/en/build-with-claude/extended-thinking"],
    dialect: "messages",
    whole: {
      body: {
        id: "msg_1",
        model: "upstream-1",
        content: [THINKING, REDACTED, { type: "text", text: "Hello" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 10, output_tokens: 5 },
      },
    },
    streamed: stream(
      say("message_start", {
        message: { id: "msg_1", content: [], usage: { input_tokens: 10, output_tokens: 1 } },
      }),
      say("content_block_start", {
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      }),
      say("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "Hm." } }),
      say("content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "EqQBCg==" } }),
      say("content_block_start", { index: 1, content_block: REDACTED }),
      say("content_block_start", { index: 2, content_block: { type: "text", text: "" } }),
      say("content_block_delta", { index: 2, delta: { type: "text_delta", text: "Hello" } }),
      say("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
      say("message_stop"),
    ),
    expect: {
      text: "Hello",
      finish: "stop",
      opaque: { thinking_blocks: [THINKING, REDACTED] },
      cost: 35,
    },
  },
  {
    name: "opaque-reasoning-items",
    from: ["https://platform.openai.com/docs/guides/reasoning"],
    dialect: "responses",
    request: TOOLS,
    ...(() => {
      const call = { type: "function_call", call_id: "call_1", ...called };
      const response = {
        id: "resp_1",
        status: "completed",
        service_tier: "default",
        model: "upstream-1",
        output: [REASONING, call],
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      };
      return { whole: { body: response }, streamed: stream(say("response.completed", { response })) };
    })(),
    expect: { ...calls(), opaque: { reasoning_items: [REASONING] }, cost: 40 },
  },
  {
    name: "opaque-thought-signature",
    from: ["https://ai.google.dev/gemini-api/docs/thought-signatures"],
    dialect: "gemini",
    request: TOOLS,
    ...(() => {
      const functionCall = { name: called.name, args: { city: "Rome" } };
      const parts = [{ functionCall, thoughtSignature: "CiQBcsjafA==" }];
      const answer = {
        candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
        ...{ modelVersion: "upstream-1", responseId: "r1" },
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      };
      return { whole: { body: answer }, streamed: stream(event(answer)) };
    })(),
    expect: { ...calls(SIGNED), opaque: {}, cost: 53 },
  },
];

export const OPAQUE: readonly UpstreamCase[] = [...OF_CHAT, ...OF_VENDORS];
