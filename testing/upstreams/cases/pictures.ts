import { event, stream, type UpstreamCase } from "../upstream";

/* The usage that servers report for cache marks. */

/**
 * Usage: 10 fresh tokens, 100 written to the cache, 40 of them for an hour, and 5 out. Cost: 10 + 60 × 1.25 + 40 × 2 + 25
 * micros.
 */
const WRITTEN = {
  input_tokens: 10,
  cache_creation_input_tokens: 100,
  cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
  cache_read_input_tokens: 0,
};
const message = (members: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "upstream-1",
  content: [],
  stop_reason: null,
  ...members,
});
const TEXT = [{ type: "text", text: "Hello" }];
const say = (type: string, members: object = {}) => event({ type, ...members }, type);
const hello = (first: object, last: object) =>
  stream(
    say("message_start", { message: message({ usage: { ...first, output_tokens: 1 } }) }),
    say("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    say("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hello" } }),
    say("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { ...last, output_tokens: 5 },
    }),
    say("message_stop"),
  );

export const PICTURES: readonly UpstreamCase[] = [
  {
    name: "messages-cache-for-an-hour",
    from: [
      "getagentseal/codeburn#317",
      "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
    ],
    dialect: "messages",
    whole: {
      body: message({ content: TEXT, stop_reason: "end_turn", usage: { ...WRITTEN, output_tokens: 5 } }),
    },
    streamed: hello(WRITTEN, {}),
    expect: { text: "Hello", finish: "stop", cost: 190 },
  },
  {
    // The counts by duration exceed the total of written tokens; no more than the total is charged.
    name: "messages-cache-times-beyond-total",
    from: ["getagentseal/codeburn#317"],
    dialect: "messages",
    whole: {
      body: message({
        content: TEXT,
        stop_reason: "end_turn",
        usage: { ...WRITTEN, cache_creation: { ephemeral_1h_input_tokens: 4_000 }, output_tokens: 5 },
      }),
    },
    streamed: hello(WRITTEN, { cache_creation: { ephemeral_1h_input_tokens: 4_000 } }),
    expect: { text: "Hello", finish: "stop", cost: 10 + 200 + 25 },
  },
];
