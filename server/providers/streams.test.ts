import { afterAll, describe, expect, test } from "vitest";
import anthropic from "./anthropic";
import deepseek from "./deepseek";
import google from "./google";
import openai from "./openai";
import compatible, { modelsFromSetting } from "./openai-compatible";
import type { Provider } from "./provider";
import { hello } from "./testing/calls";
import { caughtFault, ioFor, type Script, startVendor, type Vendor } from "./testing/vendor";

const chat = { ...compatible, models: modelsFromSetting("llama3:8b:0.05:0.08") };
const vendor: Vendor = await startVendor();
afterAll(() => vendor.stop());

const events = (...data: unknown[]): Script => ({
  headers: { "content-type": "text/event-stream" },
  text: data.map((each) => `data: ${typeof each === "string" ? each : JSON.stringify(each)}\n\n`).join(""),
});

/** Streams one call and collects its pieces. */
async function stream(provider: Provider, model: string, baseUrl = vendor.url, call = hello) {
  const pieces: string[] = [];
  const adapter = provider.text?.stream;
  if (!adapter) throw new Error("the provider does not stream");
  const io = ioFor(provider, model, "text", { baseUrl, credentials: { apiKey: "sk-1" } });
  const ended = adapter(call, io, (text) => pieces.push(text));
  return { pieces, progress: ended.catch((fault) => fault), ended };
}

describe("openai streams", () => {
  const delta = (text: string) => ({ type: "response.output_text.delta", delta: text });
  const response = (status: string, text: string, more = {}) => ({
    id: "resp_1",
    model: "gpt-5.6-luna-2026",
    status,
    output: [{ type: "message", content: [{ type: "output_text", text }] }],
    usage: { input_tokens: 3, output_tokens: 2 },
    ...more,
  });

  test("the text arrives in pieces, then result, usage and names as without a stream", async () => {
    vendor.answer(
      events({ type: "response.created", response: { id: "resp_1" } }, delta("Hel"), delta("lo"), {
        type: "response.completed",
        response: response("completed", "Hello"),
      }),
    );
    const { pieces, ended } = await stream(openai, "gpt-5.6-luna");
    expect(await ended).toMatchObject({
      state: "done",
      result: { text: "Hello", finishReason: "stop", toolCalls: [] },
      usage: { inputTokens: 3, outputTokens: 2 },
      providerRequestId: "resp_1",
      providerModel: "gpt-5.6-luna-2026",
    });
    expect(pieces).toEqual(["Hel", "lo"]);
    expect(JSON.parse(vendor.arrived[0]!.body)).toMatchObject({ stream: true, store: false });
  });

  test("an answer at its limit has the finish reason length", async () => {
    const whole = response("incomplete", "Hel", { incomplete_details: { reason: "max_output_tokens" } });
    vendor.answer(events(delta("Hel"), { type: "response.incomplete", response: whole }));
    const { ended } = await stream(openai, "gpt-5.6-luna");
    expect(await ended).toMatchObject({ result: { finishReason: "length" } });
  });

  test("a refusal is passed on once it is known to be the whole answer", async () => {
    const whole = response("completed", "", {
      output: [{ type: "message", content: [{ type: "refusal", refusal: "No." }] }],
    });
    vendor.answer(
      events(
        { type: "response.refusal.delta", delta: "No." },
        { type: "response.completed", response: whole },
      ),
    );
    const { pieces, ended } = await stream(openai, "gpt-5.6-luna");
    expect(await ended).toMatchObject({ result: { text: "No." } });
    expect(pieces).toEqual(["No."]);
  });

  test("a stream without its end is lost", async () => {
    vendor.answer(events(delta("Hel")));
    const fault = await caughtFault((await stream(openai, "gpt-5.6-luna")).ended);
    expect([fault.kind, fault.submission]).toEqual(["lost", "ambiguous"]);
  });

  test("an error inside the stream is a failure with its usage, and a refusal only before any text", async () => {
    vendor.answer(events(delta("Hel"), { type: "response.failed", response: response("failed", "") }));
    const failed = await caughtFault((await stream(openai, "gpt-5.6-luna")).ended);
    expect([failed.kind, failed.submission, failed.details.usage]).toEqual([
      "failed",
      "attempted",
      { inputTokens: 3, outputTokens: 2 },
    ]);
    vendor.answer(events({ type: "error", code: "insufficient_quota" }));
    expect((await caughtFault((await stream(openai, "gpt-5.6-luna")).ended)).kind).toBe("refused");
    vendor.answer(events(delta("Hel"), { type: "error", code: "insufficient_quota" }));
    expect((await caughtFault((await stream(openai, "gpt-5.6-luna")).ended)).kind).toBe("failed");
  });

  test("an error status is reported as without a stream", async () => {
    vendor.answer({ status: 429, json: { error: { code: "rate_limit_exceeded" } } });
    expect((await caughtFault((await stream(openai, "gpt-5.6-luna")).ended)).kind).toBe("capacity");
    vendor.answer({ status: 401, json: { error: { code: "invalid_api_key" } } });
    expect((await caughtFault((await stream(openai, "gpt-5.6-luna")).ended)).kind).toBe("refused");
  });

  test("an event with malformed JSON is a failure and is not quoted", async () => {
    vendor.answer(events('{"sk-1 is your key'));
    const fault = await caughtFault((await stream(openai, "gpt-5.6-luna")).ended);
    expect([fault.kind, fault.submission]).toEqual(["failed", "attempted"]);
    expect(`${fault.message} ${fault.cause}`).not.toContain("sk-1");
  });
});

describe("anthropic streams", () => {
  /** The vendor names its events by their type. */
  const scriptOf = (...data: { type: string }[]): Script => ({
    headers: { "content-type": "text/event-stream" },
    text: data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(""),
  });
  const start = {
    type: "message_start",
    message: {
      id: "msg_1",
      model: "claude-opus-5-5",
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 },
    },
  };
  const block = (index: number, content_block: object) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const delta = (index: number, more: object) => ({ type: "content_block_delta", index, delta: more });
  const text = (index: number, words: string) => delta(index, { type: "text_delta", text: words });
  const end = (stop_reason: string) => [
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 40 } },
    { type: "message_stop" },
  ];

  test("text, tool calls and usage are gathered, and other events have no effect", async () => {
    vendor.answer(
      scriptOf(
        start,
        { type: "ping" },
        block(0, { type: "thinking", thinking: "" }),
        delta(0, { type: "thinking_delta", thinking: "Hmm." }),
        delta(0, { type: "signature_delta", signature: "c2ln" }),
        { type: "content_block_stop" },
        block(1, { type: "text", text: "" }),
        text(1, "Let me "),
        delta(1, { type: "citations_delta", citation: { type: "char_location" } }),
        text(1, "look."),
        block(2, { type: "tool_use", id: "toolu_1", name: "find", input: {} }),
        delta(2, { type: "input_json_delta", partial_json: "" }),
        delta(2, { type: "input_json_delta", partial_json: '{"q":' }),
        delta(2, { type: "input_json_delta", partial_json: '"x"}' }),
        block(3, { type: "tool_use", id: "toolu_2", name: "list", input: {} }),
        { type: "something_new" },
        ...end("tool_use"),
      ),
    );
    const { pieces, ended } = await stream(anthropic, "claude-opus-5-5");
    expect(await ended).toEqual({
      state: "done",
      result: {
        text: "Let me look.",
        finishReason: "tool_calls",
        toolCalls: [
          { id: "toolu_1", name: "find", arguments: '{"q":"x"}' },
          { id: "toolu_2", name: "list", arguments: "{}" },
        ],
        opaque: { thinking_blocks: [{ type: "thinking", thinking: "Hmm.", signature: "c2ln" }] },
      },
      usage: { inputTokens: 15, cachedInputTokens: 5, outputTokens: 40 },
      providerRequestId: "msg_1",
      providerModel: "claude-opus-5-5",
      httpStatus: 200,
    });
    expect(pieces).toEqual(["Let me ", "look."]);
    expect(JSON.parse(vendor.arrived[0]!.body)).toMatchObject({ stream: true });
  });

  test.each([
    ["max_tokens", "length"],
    ["refusal", "content_filter"],
  ])("a stream that stops for %s keeps its pieces", async (reason, finishReason) => {
    vendor.answer(scriptOf(start, block(0, { type: "text", text: "He" }), text(0, "l"), ...end(reason)));
    const { pieces, ended } = await stream(anthropic, "claude-opus-5-5");
    expect(await ended).toMatchObject({ result: { text: "Hel", finishReason } });
    expect(pieces.join("")).toBe("Hel");
  });

  test("a tool call cut off by the output limit keeps the arguments so far", async () => {
    const tool = block(0, { type: "tool_use", id: "toolu_1", name: "find", input: {} });
    const part = delta(0, { type: "input_json_delta", partial_json: '{"q":"x' });
    vendor.answer(scriptOf(start, tool, part, ...end("max_tokens")));
    const { ended } = await stream(anthropic, "claude-opus-5-5");
    expect(await ended).toMatchObject({
      result: { finishReason: "length", toolCalls: [{ arguments: '{"q":"x' }] },
      usage: { inputTokens: 15, outputTokens: 40 },
    });
  });

  test("a stream whose tool arguments are nested too deeply ends as failed, not as lost", async () => {
    const tool = block(0, { type: "tool_use", id: "toolu_1", name: "find", input: {} });
    const deep = `${"[".repeat(9_000)}${"]".repeat(9_000)}`;
    vendor.answer(
      scriptOf(start, tool, delta(0, { type: "input_json_delta", partial_json: deep }), ...end("tool_use")),
    );
    const fault = await caughtFault((await stream(anthropic, "claude-opus-5-5")).ended);
    expect([fault.kind, fault.submission]).toEqual(["failed", "attempted"]);
  });

  test("a stream without its end is lost", async () => {
    vendor.answer(scriptOf(start, block(0, { type: "text", text: "" }), text(0, "Hel")));
    const fault = await caughtFault((await stream(anthropic, "claude-opus-5-5")).ended);
    expect([fault.kind, fault.submission]).toEqual(["lost", "ambiguous"]);
  });

  test("an overload inside the stream is a lack of capacity only before any text", async () => {
    const overload = { type: "error", error: { type: "overloaded_error", message: "sk-1" } };
    vendor.answer(scriptOf(start, overload));
    const full = await caughtFault((await stream(anthropic, "claude-opus-5-5")).ended);
    expect([full.kind, full.submission, full.message]).toEqual([
      "capacity",
      "attempted",
      "Anthropic is overloaded.",
    ]);
    vendor.answer(scriptOf(start, block(0, { type: "text", text: "" }), text(0, "Hel"), overload));
    expect((await caughtFault((await stream(anthropic, "claude-opus-5-5")).ended)).kind).toBe("failed");
  });

  test("a server without streaming answers in one piece", async () => {
    vendor.answer({ json: { content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" } });
    const { pieces, ended } = await stream(anthropic, "claude-opus-5-5");
    expect(await ended).toMatchObject({ result: { text: "Hi", finishReason: "stop" } });
    expect(pieces).toEqual(["Hi"]);
  });
});

describe("google streams", () => {
  const piece = (parts: object[], more: object = {}) => ({
    candidates: [{ content: { role: "model", parts }, ...more }],
    responseId: "resp-1",
    modelVersion: "gemini-3.8-flash",
    usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
  });
  const last = (parts: object[], finishReason: string) => ({
    ...piece(parts, { finishReason }),
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 9, totalTokenCount: 19 },
  });

  test("text and tool calls are gathered, thoughts are left out, and the last usage counts", async () => {
    vendor.answer(
      events(
        piece([{ text: "Hmm.", thought: true }]),
        piece([{ text: "Let me " }]),
        piece([{ text: "look." }, { functionCall: { id: "call_1", name: "find", args: { q: "x" } } }]),
        last([{ text: "" }], "STOP"),
      ),
    );
    const { pieces, ended } = await stream(google, "gemini-3.8-flash");
    expect(await ended).toEqual({
      state: "done",
      result: {
        text: "Let me look.",
        finishReason: "tool_calls",
        toolCalls: [{ id: "call_1", name: "find", arguments: '{"q":"x"}' }],
      },
      usage: { inputTokens: 10, outputTokens: 9 },
      providerRequestId: "resp-1",
      providerModel: "gemini-3.8-flash",
      httpStatus: 200,
    });
    expect(pieces).toEqual(["Let me ", "look."]);
    expect(vendor.arrived[0]?.path).toBe("/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse");
  });

  test.each([
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
  ])("a stream that stops for %s keeps its pieces", async (reason, finishReason) => {
    vendor.answer(events(piece([{ text: "He" }]), last([{ text: "l" }], reason)));
    const { pieces, ended } = await stream(google, "gemini-3.8-flash");
    expect(await ended).toMatchObject({ result: { text: "Hel", finishReason } });
    expect(pieces.join("")).toBe("Hel");
  });

  test("a blocked prompt is an answer without text", async () => {
    vendor.answer(
      events({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { totalTokenCount: 4 } }),
    );
    const { pieces, ended } = await stream(google, "gemini-3.8-flash");
    expect(await ended).toMatchObject({ result: { text: "", finishReason: "content_filter" } });
    expect(pieces).toEqual([]);
  });

  test("a stream without its end is lost, and an error after text is a failure", async () => {
    vendor.answer(events(piece([{ text: "Hel" }])));
    const lost = await caughtFault((await stream(google, "gemini-3.8-flash")).ended);
    expect([lost.kind, lost.submission]).toEqual(["lost", "ambiguous"]);
    const full = { error: { code: 503, status: "UNAVAILABLE", message: "sk-1" } };
    vendor.answer(events(full));
    expect((await caughtFault((await stream(google, "gemini-3.8-flash")).ended)).kind).toBe("capacity");
    vendor.answer(events(piece([{ text: "Hel" }]), full));
    expect((await caughtFault((await stream(google, "gemini-3.8-flash")).ended)).kind).toBe("failed");
  });
});

/** A chunk of a chat completion. */
const chunkOf =
  (model: string) =>
  (delta: object, finish_reason: string | null = null) => ({
    id: "chat_1",
    model,
    choices: [{ index: 0, delta, finish_reason }],
  });

describe("chat completions streams", () => {
  const chunk = chunkOf("llama3:8b");

  test("text, tool calls and usage are gathered from chunks", async () => {
    const call = (part: object) => chunk({ tool_calls: [{ index: 0, ...part }] });
    vendor.answer(
      events(
        { id: "", model: "", choices: [], prompt_filter_results: [] },
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Let me " }),
        chunk({ content: "look." }),
        call({ id: "call_1", function: { name: "find", arguments: '{"q":' } }),
        call({ function: { arguments: '"x"}' } }),
        chunk({}, "tool_calls"),
        { id: "chat_1", choices: [], usage: { prompt_tokens: 4, completion_tokens: 9 } },
        "[DONE]",
      ),
    );
    const { pieces, ended } = await stream(chat, "llama3:8b");
    expect(await ended).toMatchObject({
      result: {
        text: "Let me look.",
        finishReason: "tool_calls",
        toolCalls: [{ id: "call_1", name: "find", arguments: '{"q":"x"}' }],
      },
      usage: { inputTokens: 4, outputTokens: 9 },
      providerRequestId: "chat_1",
    });
    expect(pieces).toEqual(["Let me ", "look."]);
    const asked = { stream: true, stream_options: { include_usage: true } };
    expect(JSON.parse(vendor.arrived[0]!.body)).toMatchObject(asked);
  });

  test("a server without usage reports has none, not zero", async () => {
    vendor.answer(events(chunk({ content: "Hi" }, "stop"), "[DONE]"));
    expect(await (await stream(chat, "llama3:8b")).ended).toMatchObject({ usage: null });
  });

  test("a server without streaming answers in one piece", async () => {
    vendor.answer({ json: { choices: [{ message: { content: "Hi" } }] } });
    const { pieces, ended } = await stream(chat, "llama3:8b");
    expect(await ended).toMatchObject({ result: { text: "Hi" } });
    expect(pieces).toEqual(["Hi"]);
  });

  test("a stream without its end is lost, and an error after text is a failure", async () => {
    vendor.answer(events(chunk({ content: "Hi" })));
    const lost = await caughtFault((await stream(chat, "llama3:8b")).ended);
    expect([lost.kind, lost.submission]).toEqual(["lost", "ambiguous"]);
    vendor.answer(events(chunk({ content: "Hi" }), { error: { message: "out of memory" } }));
    expect((await caughtFault((await stream(chat, "llama3:8b")).ended)).kind).toBe("failed");
  });
});

test("deepseek streams leave out reasoning and count cache hits", async () => {
  const piece = chunkOf("deepseek-flash");
  vendor.answer(
    events(
      piece({ role: "assistant", content: null, reasoning_content: "Hm" }),
      piece({ content: null, reasoning_content: "m." }),
      piece({ content: "Co", reasoning_content: null }),
      piece({ content: "d." }),
      {
        ...piece({ content: "" }, "stop"),
        usage: { prompt_tokens: 12, prompt_cache_hit_tokens: 8, completion_tokens: 9 },
      },
      "[DONE]",
    ),
  );
  const { pieces, ended } = await stream(deepseek, "deepseek-flash");
  expect(await ended).toMatchObject({
    result: { text: "Cod.", finishReason: "stop" },
    usage: { inputTokens: 12, cachedInputTokens: 8, outputTokens: 9 },
  });
  expect(pieces).toEqual(["Co", "d."]);
  vendor.answer(events(piece({ content: "Co" })));
  expect((await caughtFault((await stream(deepseek, "deepseek-flash")).ended)).kind).toBe("lost");
});
