import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import {
  type Answer,
  COST,
  chunk,
  completion,
  DONE,
  event,
  type Piece,
  stream,
  type UpstreamCase,
  usageChunk,
} from "../upstream";

/* Bytes on the wire: content codings, media types, heartbeats, odd characters, and JSON in wrappers. */

const HELLO = [chunk({ content: "Hel" }), chunk({ content: "lo" }, { finish: "stop" }), usageChunk(), DONE];
const whole = completion({ content: "Hello" });
const said = { text: "Hello", finish: "stop", cost: COST } as const;

const textOf = ({ body }: Answer): string =>
  Array.isArray(body) ? body.map(String).join("") : JSON.stringify(body);

/** The same answer in a content coding. */
const coded = (answer: Answer, coding: string, compress: (text: string) => Uint8Array): Answer => ({
  ...answer,
  headers: { ...answer.headers, "content-encoding": coding },
  body: [compress(textOf(answer))],
});

/** The same answer under another media type; an empty one omits the header. */
const typed = (answer: Answer, type: string): Answer => ({
  ...answer,
  headers: { ...answer.headers, "content-type": type },
});

const body = (...pieces: Piece[]): Answer => ({ body: pieces });

/** Lines that keep a stream open without an event. */
const HEARTBEATS = [
  ": keep-alive\n\n",
  "retry: 3000\n\n",
  "data:\n\n",
  "data: ping\n\n",
  "event: ping\ndata: {}\n\n",
  event({ type: "ping" }, "ping"),
  event({ type: "a.later.version", delta: { text: ["x"] }, choices: null }),
  "id: 7\nfield without meaning\n\n",
];
const [FIRST, ...REST] = HELLO;

const TOOLS = {
  tools: [
    { type: "function", function: { name: "get_weather", parameters: { type: "object" } } },
    { type: "function", function: { name: "get_time", parameters: { type: "object" } } },
  ],
};
const callOf = (id: unknown, name: string, args: unknown, index = 0) => ({
  index,
  id,
  type: "function",
  function: { name, arguments: args },
});
const calling = (...calls: object[]) => ({
  whole: completion({ content: null, tool_calls: calls }, { finish: "tool_calls" }),
  streamed: stream(
    ...calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, { finish: "tool_calls" }),
    usageChunk(),
    DONE,
  ),
});

const OBJECT = { response_format: { type: "json_object" } };
const SCHEMA = {
  response_format: {
    type: "json_schema",
    json_schema: { name: "city", schema: { type: "object", required: ["city"] } },
  },
};
/** An answer with this text, whole and in pieces of up to three characters. */
const writing = (text: string) => ({
  whole: completion({ content: text }),
  streamed: stream(
    ...(text.match(/.{1,3}/gs) ?? []).map((content) => chunk({ content })),
    chunk({}, { finish: "stop" }),
    usageChunk(),
    DONE,
  ),
});

export const BYTES: readonly UpstreamCase[] = [
  // ---- events
  {
    name: "heartbeats",
    from: ["Growth-Circle/cadis#362", "wave-agent#1326", "modelcontextprotocol/python-sdk#1670"],
    dialect: "chat",
    streamed: stream(...HEARTBEATS, FIRST!, ...HEARTBEATS, ...REST),
    expect: said,
  },
  {
    name: "event-broken-in-stream",
    from: ["https://www.rfc-editor.org/rfc/rfc8259"],
    dialect: "chat",
    streamed: stream(FIRST!, 'data: {"choices":[{"delta":{"content":"lo"\n\n', ...REST),
    expect: { fails: "TRANSPORT_AMBIGUOUS", text: "Hel", submission: "ambiguous", hold: "ambiguous" },
  },
  // ---- media types
  ...["text/plain", "application/json", ""].map(
    (type): UpstreamCase => ({
      name: `stream-as-${type.replace("/", "-") || "nothing"}`,
      from: ["openclaw/openclaw#97454", "sub2api#2826", "claude-code-router-next#45"],
      dialect: "chat",
      streamed: typed(stream(...HELLO), type),
      expect: said,
    }),
  ),
  {
    name: "stream-cut-at-its-first-field",
    from: ["openclaw/openclaw#97454"],
    dialect: "chat",
    streamed: typed(
      stream("\ufeff\n", "da", { pauseMs: 20 }, "t", { pauseMs: 20 }, textOf(body(...HELLO)).slice(3)),
      "text/plain",
    ),
    expect: said,
  },
  {
    name: "events-though-whole",
    from: ["BYK/loreai#605"],
    dialect: "chat",
    whole: stream(...HELLO),
    expect: said,
    // A pin's record stores the vendor's response as JSON, and this is not JSON.
    pinned: { fails: "PROVIDER_ERROR", hold: "released", cost: null },
  },
  {
    name: "whole-though-streamed",
    from: ["openclaw/openclaw#97454"],
    dialect: "chat",
    streamed: typed(whole, "text/event-stream"),
    expect: said,
  },
  // ---- codings
  {
    name: "gzip",
    from: ["apache/apisix#13544", "ai-ecoverse/slicc#3041"],
    dialect: "chat",
    whole: coded(whole, "gzip", gzipSync),
    streamed: coded(stream(...HELLO), "x-gzip", gzipSync),
    expect: said,
  },
  {
    name: "brotli",
    from: ["lablup/backend.ai#5771"],
    dialect: "chat",
    whole: coded(whole, "br", brotliCompressSync),
    streamed: coded(stream(...HELLO), "br", brotliCompressSync),
    expect: said,
  },
  {
    name: "deflate",
    from: ["https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.2"],
    dialect: "chat",
    whole: coded(whole, "deflate", deflateSync),
    streamed: coded(stream(...HELLO), "Deflate", deflateRawSync),
    expect: said,
  },
  {
    name: "gzip-error",
    from: ["apache/apisix#13544"],
    dialect: "chat",
    whole: {
      ...coded({ body: { error: { code: "bad_model", message: "No such model." } } }, "gzip", gzipSync),
      status: 400,
    },
    expect: {
      fails: "ProviderRejected",
      hold: "released",
      isSafe: true,
      said: { code: "bad_model", message: "No such model." },
    },
  },
  {
    name: "gzip-corrupt",
    from: ["https://www.rfc-editor.org/rfc/rfc1952"],
    dialect: "chat",
    whole: {
      ...whole,
      headers: { "content-encoding": "gzip" },
    },
    expect: { fails: "PROVIDER_ERROR", hold: "released" },
  },
  // ---- shapes of messages
  {
    name: "content-in-parts",
    from: ["agentjido/req_llm#742", "HKUDS/nanobot#4351"],
    dialect: "chat",
    whole: completion({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
      ],
    }),
    streamed: stream(
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] }),
      chunk({ content: [{ type: "text", text: "Hello" }] }, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: said,
  },
  {
    name: "arguments-as-object",
    from: ["ggml-org/llama.cpp#20198"],
    dialect: "chat",
    request: TOOLS,
    ...calling(callOf("call_1", "get_weather", { city: "Rome" })),
    expect: {
      calls: [{ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }],
      finish: "tool_calls",
      cost: COST,
    },
  },
  ...[undefined, null, ""].map(
    (args): UpstreamCase => ({
      name: `arguments-${args === undefined ? "absent" : args === null ? "null" : "empty"}`,
      from: ["ggml-org/llama.cpp#20198", "sigoden/aichat#1217"],
      dialect: "chat",
      request: TOOLS,
      ...calling(callOf("call_1", "get_weather", args)),
      expect: {
        calls: [{ id: "call_1", name: "get_weather", arguments: "{}" }],
        finish: "tool_calls",
        cost: COST,
      },
    }),
  ),
  {
    name: "calls-of-one-id",
    from: ["huggingface/smolagents#2683", "huggingface/smolagents#2768"],
    dialect: "chat",
    request: TOOLS,
    whole: calling(
      callOf("call_1", "get_weather", '{"city":"Rome"}'),
      callOf("call_1", "get_time", '{"tz":"CET"}', 1),
    ).whole,
    expect: {
      calls: [
        { id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
        { id: "call_1", name: "get_time", arguments: '{"tz":"CET"}' },
      ],
      finish: "tool_calls",
      cost: COST,
    },
  },
  {
    name: "numeric-ids",
    from: ["https://www.rfc-editor.org/rfc/rfc8259"],
    dialect: "chat",
    request: TOOLS,
    whole: completion(
      { content: null, tool_calls: [callOf(7, "get_weather", "{}")] },
      { finish: "tool_calls", id: 42 },
    ),
    expect: { calls: [{ id: "7", name: "get_weather", arguments: "{}" }], finish: "tool_calls", cost: COST },
  },
  // ---- characters
  {
    name: "half-a-character",
    from: ["THU-MAIC/OpenMAIC#1493", "ayunis#1613"],
    dialect: "chat",
    whole: body(textOf(completion({ content: "a\ud800b" }))),
    streamed: stream(
      chunk({ content: "a\ud800" }),
      chunk({ content: "b" }, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: { text: "a\ufffdb", finish: "stop", cost: COST },
  },
  {
    name: "emoji-split-over-deltas",
    from: ["THU-MAIC/OpenMAIC#1493"],
    dialect: "chat",
    streamed: stream(
      chunk({ content: "a\ud83d" }),
      chunk({ content: "\ude00" }, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: { text: "a\ud83d\ude00", finish: "stop", cost: COST },
  },
  {
    name: "nul-in-a-text",
    from: ["hatchet-dev/hatchet#4619", "activepieces#13965", "unstract#2289"],
    dialect: "chat",
    whole: completion({ content: "one\u0000two" }),
    streamed: stream(chunk({ content: "one\u0000two" }, { finish: "stop" }), usageChunk(), DONE),
    expect: { text: "one\ufffdtwo", finish: "stop", cost: COST },
  },
  {
    name: "byte-order-mark",
    from: ["https://www.rfc-editor.org/rfc/rfc8259#section-8.1"],
    dialect: "chat",
    whole: body(`\ufeff${textOf(whole)}`),
    streamed: stream(`\ufeff${textOf(body(...HELLO))}`),
    expect: said,
  },
  {
    name: "nan-in-an-unread-member",
    from: ["https://docs.python.org/3/library/json.html#infinite-and-nan-number-values"],
    dialect: "chat",
    whole: body(textOf(whole).replace('"choices"', '"score":NaN,"least":-Infinity,"choices"')),
    streamed: stream(FIRST!.replace('"choices"', '"score":NaN,"choices"'), ...REST),
    expect: said,
  },
  // ---- JSON of models
  {
    name: "json-in-a-fence",
    from: ["vectorize-io/hindsight#645"],
    dialect: "chat",
    request: OBJECT,
    ...writing('```json\n{"city":"Rome"}\n```\n'),
    expect: { text: '{"city":"Rome"}', finish: "stop", cost: COST },
  },
  {
    name: "json-after-thinking",
    from: ["zettelrobbe#74"],
    dialect: "chat",
    request: SCHEMA,
    ...writing('<think>\nIs it {"city":"Bonn"}?\n</think>\n\n```json\n{"city":"Rome"}\n```'),
    expect: { text: '{"city":"Rome"}', finish: "stop", cost: COST },
  },
  {
    name: "large-integer",
    from: ["oceanbase/powercontext#91", "oceanbase/powercontext#1100", "earendil-works/pi#8943"],
    dialect: "chat",
    request: OBJECT,
    ...writing('{"id": 12345678901234567890,"z":1.0}'),
    expect: { text: '{"id": 12345678901234567890,"z":1.0}', finish: "stop", cost: COST },
    // A JSON value cannot hold all the digits.
    object: { fails: "StructuredOutputInvalid", cost: COST },
  },
  {
    name: "large-round-number",
    from: ["https://www.rfc-editor.org/rfc/rfc8785#section-3.2.2.3"],
    dialect: "chat",
    request: OBJECT,
    ...writing('{"n":6.022e+23}'),
    expect: { text: '{"n":6.022e+23}', finish: "stop", cost: COST },
  },
  {
    name: "member-twice",
    from: ["https://www.rfc-editor.org/rfc/rfc7493#section-2.3"],
    dialect: "chat",
    request: OBJECT,
    ...writing('{"a":1,"a":2}'),
    expect: { text: '{"a":1,"a":2}', finish: "stop", cost: COST },
    object: { fails: "StructuredOutputInvalid", cost: COST },
  },
];
