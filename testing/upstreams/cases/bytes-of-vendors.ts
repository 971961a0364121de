import { gzipSync } from "node:zlib";
import { type Answer, event, stream, type UpstreamCase } from "../upstream";

/* Some cases of bytes.ts in the other dialects, each of which has its own port that reads the bytes. */

const HEARTBEATS = [
  ": keep-alive\n\n",
  "retry: 3000\n\n",
  "data:\n\n",
  "data: ping\n\n",
  "event: ping\ndata: {}\n\n",
  event({ type: "a.later.version", delta: { text: ["x"] }, index: "?" }),
];
const typed = (answer: Answer, type: string): Answer => ({ ...answer, headers: { "content-type": type } });

// ---- the Responses API

const response = {
  id: "resp_1",
  model: "gpt-5.6-luna",
  status: "completed",
  output: [{ type: "message", content: [{ type: "output_text", text: "a\ud800\u0000b" }] }],
  usage: { input_tokens: 10, output_tokens: 5 },
};
const RESPONSES = [
  ...HEARTBEATS,
  event({ type: "response.output_text.delta", delta: "a\ud800\u0000" }),
  ...HEARTBEATS,
  event({ type: "response.output_text.delta", delta: "b" }),
  event({ type: "response.completed", response }),
  "data: [DONE]\n\n",
];

// ---- the Messages API

const MESSAGES = [
  ...HEARTBEATS,
  event(
    {
      type: "message_start",
      message: { id: 7, model: "claude-haiku-4-5", content: [], usage: { input_tokens: 10 } },
    },
    "message_start",
  ),
  event(
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    "content_block_start",
  ),
  ...HEARTBEATS,
  event(
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a\ud800" } },
    "content_block_delta",
  ),
  event(
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "\u0000b" } },
    "content_block_delta",
  ),
  event(
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
    "message_delta",
  ),
];
const END = event({ type: "message_stop" }, "message_stop");
const message = {
  id: 7,
  model: "claude-haiku-4-5",
  content: [{ type: "text", text: "a\ud800\u0000b" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 5 },
};

// ---- generateContent

const generated = (text: string, more = {}) => ({
  responseId: 7,
  modelVersion: "gemini-3.8-flash",
  candidates: [{ content: { parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
const GEMINI = [
  ...HEARTBEATS,
  event(generated("a\ud800")),
  ...HEARTBEATS,
  event(generated("\u0000b", { finishReason: "STOP" })),
  "data: [DONE]\n\n",
];

const TEXT = { text: "a\ufffd\ufffdb" };
const REPORTS = ["Growth-Circle/cadis#362", "wave-agent#1326", "modelcontextprotocol/python-sdk#1670"];
const WHOLE_REPORTS = ["BYK/loreai#605"];
/** A pin's record stores the vendor's response as JSON, so a stream of events fails. */
const pinned = { fails: "PROVIDER_ERROR", hold: "released" } as const;
const zipped = (text: object): Answer => ({
  headers: { "content-encoding": "gzip" },
  body: [gzipSync(`\ufeff${JSON.stringify(text).replace("{", '{"unread":NaN,')}`)],
});

export const BYTES_OF_VENDORS: readonly UpstreamCase[] = [
  {
    name: "responses-bytes",
    from: REPORTS,
    dialect: "responses",
    whole: zipped(response),
    streamed: stream(...RESPONSES),
    expect: TEXT,
  },
  {
    name: "responses-events-though-whole",
    from: WHOLE_REPORTS,
    dialect: "responses",
    whole: stream(...RESPONSES),
    streamed: typed(stream(...RESPONSES), "text/plain"),
    expect: TEXT,
    pinned,
  },
  {
    name: "messages-bytes",
    from: REPORTS,
    dialect: "messages",
    whole: zipped(message),
    streamed: stream(...MESSAGES, END),
    expect: TEXT,
  },
  {
    name: "messages-events-though-whole",
    from: WHOLE_REPORTS,
    dialect: "messages",
    whole: stream(...MESSAGES, END),
    streamed: typed(stream(...MESSAGES, END), "application/json"),
    expect: TEXT,
    pinned,
  },
  {
    name: "messages-reset-before-stop",
    from: ["maximhq/bifrost#6784"],
    dialect: "messages",
    streamed: stream(...MESSAGES, "reset"),
    expect: TEXT,
  },
  {
    name: "gemini-bytes",
    from: REPORTS,
    dialect: "gemini",
    whole: zipped(generated("a\ud800\u0000b", { finishReason: "STOP" })),
    streamed: stream(...GEMINI),
    expect: TEXT,
  },
  {
    name: "gemini-events-though-whole",
    from: WHOLE_REPORTS,
    dialect: "gemini",
    whole: stream(...GEMINI),
    streamed: typed(stream(...GEMINI), "text/plain"),
    expect: TEXT,
    pinned,
  },
];
