import { chunk, type Expected, event, FULL, type Piece, said, stream, type UpstreamCase } from "../upstream";

/* Errors that a server writes into a stream as a plain JSON body, without the framing of events. */

const REPORTS = ["maximhq/bifrost#5262", "Wei-Shaw/sub2api#1471"];
const afterHello: Expected = { fails: "PROVIDER_ERROR", text: "Hello", isEstimated: true };

const BROKEN = { error: { message: "Upstream broke.", type: "server_error" } };
const EXHAUSTED = { error: { code: 429, message: "Quota exceeded.", status: "RESOURCE_EXHAUSTED" } };
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const onLines = (body: object) => JSON.stringify(body, null, 2);

const HELLO: Record<UpstreamCase["dialect"], Piece[]> = {
  chat: [chunk({ content: "Hello" })],
  responses: [event({ type: "response.output_text.delta", delta: "Hello" })],
  messages: [
    event({ type: "message_start", message: { id: "msg_1", content: [], usage: { input_tokens: 10 } } }),
    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "Hello" } }),
  ],
  gemini: [event({ candidates: [{ content: { parts: [{ text: "Hello" }] } }] })],
};

type Unframed = { dialect: UpstreamCase["dialect"]; pieces: Piece[]; expect: Expected };
const cases: Record<string, Unframed> = {
  "error-on-a-line": {
    dialect: "chat",
    pieces: [...HELLO.chat, `${JSON.stringify(BROKEN)}\n`],
    expect: { ...afterHello, ...said("server_error", "Upstream broke.") },
  },
  "error-after-half-an-event": {
    dialect: "chat",
    pieces: [...HELLO.chat, 'data: {"choices":[{"del', `\n${JSON.stringify(BROKEN)}\n\n`],
    expect: { ...afterHello, ...said("server_error", "Upstream broke.") },
  },
  "error-within-half-an-event": {
    dialect: "responses",
    pieces: [
      ...HELLO.responses,
      'data: {"type":"response.comp',
      `\ndata: ${JSON.stringify({ type: "error", error: BROKEN.error })}\n\n`,
    ],
    expect: { ...afterHello, ...said("server_error", "Upstream broke.") },
  },
  "error-on-lines": {
    dialect: "gemini",
    pieces: [...HELLO.gemini, onLines(EXHAUSTED)],
    expect: { ...afterHello, ...said("RESOURCE_EXHAUSTED", "Quota exceeded.") },
  },
  "error-on-lines-then-reset": {
    dialect: "messages",
    pieces: [...HELLO.messages, onLines(OVERLOADED), "reset"],
    expect: { ...afterHello, ...said("overloaded_error", "Overloaded") },
  },
};

export const UNFRAMED: readonly UpstreamCase[] = [
  ...Object.entries(cases).map(
    ([name, { dialect, pieces, expect }]): UpstreamCase => ({
      name,
      from: REPORTS,
      dialect,
      streamed: stream(...pieces),
      expect,
    }),
  ),
  {
    name: "error-on-lines-before-text",
    from: REPORTS,
    dialect: "gemini",
    streamed: {
      headers: { "content-type": "text/event-stream", "retry-after": "3600" },
      body: [": connected\n\n", onLines(EXHAUSTED)],
    },
    expect: { ...FULL, ...said("RESOURCE_EXHAUSTED", "Quota exceeded.") },
  },
  {
    name: "json-on-lines-that-is-no-error",
    from: REPORTS,
    dialect: "chat",
    streamed: stream(
      ...HELLO.chat,
      `${onLines({ trace: "7", error: null })}\n`,
      chunk({ content: "!" }, { finish: "stop" }),
      event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } }),
      "data: [DONE]\n\n",
    ),
    expect: { text: "Hello!", finish: "stop", cost: 20 },
  },
];
