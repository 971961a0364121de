import { type Answer, type Expected, event, type Piece, stream, type UpstreamCase } from "../upstream";

/* Anthropic's Messages API and its copies. Ten tokens in and five out cost 35 micros on the model of these cases. */

const COST = 35;
const USAGE = { input_tokens: 10, output_tokens: 5 };

const message = (members: object = {}) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "upstream-1",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  usage: USAGE,
  ...members,
});
const whole = (members: object = {}): Answer => ({ body: message(members) });

const say = (type: string, members: object = {}) => event({ type, ...members }, type);
/** The first event, which counts the output before there is any. */
const start = (usage: object | null = { input_tokens: 10, output_tokens: 1 }) =>
  say("message_start", { message: message({ content: [], stop_reason: null, usage }) });
const block = (index: number, content_block: object) => say("content_block_start", { index, content_block });
const piece = (index: number, delta: object) => say("content_block_delta", { index, delta });
const text = (words: string, index = 0) => piece(index, { type: "text_delta", text: words });
const end = (stop_reason: string | null = "end_turn", usage: object | null = { output_tokens: 5 }) =>
  say("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
const STOP = say("message_stop");
const TEXT = block(0, { type: "text", text: "" });

const streamed = (...pieces: Piece[]): Answer => stream(...pieces);
/** A stream whose text is `Hello`. */
const hello = (...pieces: Piece[]): Answer => stream(start(), TEXT, text("Hel"), text("lo"), ...pieces);

const answered: Expected = { text: "Hello", finish: "stop", cost: COST };
const afterHello: Expected = { fails: "PROVIDER_ERROR", text: "Hello", isEstimated: true };
const LOST: Expected = { fails: "TRANSPORT_AMBIGUOUS", submission: "ambiguous", hold: "ambiguous" };
const FULL: Expected = { fails: "ProviderUnavailable", hold: "released", isSafe: true, status: 503 };
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

export const MESSAGES: readonly UpstreamCase[] = [
  {
    name: "messages-plain",
    from: ["https://platform.claude.com/docs/en/build-with-claude/streaming"],
    dialect: "messages",
    whole: whole(),
    streamed: hello(end(), STOP),
    expect: answered,
  },
  {
    name: "messages-error-in-stream",
    from: [
      "use-agent-os/agent-os#2118",
      "Pasta-Devs/Marinara-Engine#2659",
      "anthropics/anthropic-sdk-typescript#346",
    ],
    dialect: "messages",
    streamed: hello(event(OVERLOADED, "error")),
    expect: { ...afterHello, said: { code: "overloaded_error", message: "Overloaded" } },
  },
  {
    name: "messages-full-before-text",
    from: ["envoyproxy/ai-gateway#2698", "Portkey-AI/gateway#741"],
    dialect: "messages",
    whole: { headers: { "retry-after": "3600" }, body: OVERLOADED },
    streamed: {
      ...streamed(start(), event(OVERLOADED, "error")),
      headers: { "content-type": "text/event-stream", "retry-after": "3600" },
    },
    expect: { ...FULL, said: { code: "overloaded_error", message: "Overloaded" } },
  },
  {
    name: "messages-error-after-long-text",
    from: ["use-agent-os/agent-os#2271"],
    dialect: "messages",
    streamed: streamed(start(), TEXT, text("Hello there. ".repeat(100)), event(OVERLOADED, "error")),
    // About 300 tokens were delivered, whatever the first event counted.
    expect: { fails: "PROVIDER_ERROR", isEstimated: true, atLeast: 10 + 250 * 5 },
  },
  {
    name: "messages-without-stop-event",
    from: ["tombii/better-ccflare#307", "esengine/DeepSeek-Reasonix#8756"],
    dialect: "messages",
    streamed: hello(end()),
    expect: answered,
  },
  {
    name: "messages-pings-after-end",
    from: ["tombii/better-ccflare#307"],
    dialect: "messages",
    streamed: hello(end(), say("ping"), say("ping"), "reset"),
    expect: answered,
  },
  {
    name: "messages-stays-open",
    from: ["earendil-works/pi#5592"],
    dialect: "messages",
    streamed: hello(end(), STOP, { pauseMs: 50 }),
    expect: answered,
  },
  {
    name: "messages-breaks-off",
    from: ["vybestack/llxprt-code#3367"],
    dialect: "messages",
    streamed: hello(),
    expect: LOST,
  },
  {
    name: "messages-reset-in-text",
    from: ["vybestack/llxprt-code#3367"],
    dialect: "messages",
    streamed: hello("reset"),
    expect: LOST,
  },
  {
    name: "messages-window-full",
    from: ["turnstonelabs/turnstone#1162", "laravel/ai#881", "earendil-works/pi#1869"],
    dialect: "messages",
    whole: whole({ stop_reason: "model_context_window_exceeded" }),
    streamed: hello(end("model_context_window_exceeded"), STOP),
    expect: { text: "Hello", finish: "length", cost: COST },
  },
  {
    name: "messages-unknown-end",
    from: ["tetsuo-ai/agenc-core#2111"],
    dialect: "messages",
    whole: whole({ stop_reason: "pause_turn" }),
    streamed: hello(end("pause_turn"), STOP),
    expect: { ...answered, unknownFinish: "pause_turn" },
  },
  {
    name: "messages-unknown-end-without-stop-event",
    from: ["esengine/DeepSeek-Reasonix#8756"],
    dialect: "messages",
    streamed: hello(end("pause_turn")),
    expect: LOST,
  },
  {
    name: "messages-end-is-error",
    from: ["Portkey-AI/gateway#741"],
    dialect: "messages",
    whole: whole({ stop_reason: "error" }),
    streamed: hello(end("error")),
    expect: { fails: "PROVIDER_ERROR", text: "Hello", cost: COST },
  },
  {
    name: "messages-usage-in-last-event",
    from: ["vybestack/llxprt-code#1860", "jeremychone/rust-genai#258"],
    dialect: "messages",
    streamed: streamed(
      start({ input_tokens: 0, output_tokens: 0 }),
      TEXT,
      text("Hello"),
      end("end_turn", { input_tokens: 10, output_tokens: 5 }),
      STOP,
    ),
    expect: answered,
  },
  {
    name: "messages-zeros-after-usage",
    from: ["decolua/9router#2209", "huggingface/tau#617"],
    dialect: "messages",
    streamed: hello(
      end("end_turn", { input_tokens: 0, output_tokens: 5 }),
      end(null, { output_tokens: 0 }),
      STOP,
    ),
    expect: answered,
  },
  {
    name: "messages-cache-apart",
    from: ["huggingface/tau#617", "vllm-project/vllm#40912"],
    dialect: "messages",
    whole: whole({
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 50,
        output_tokens: 5,
      },
    }),
    streamed: streamed(
      start({
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 50,
        output_tokens: 1,
      }),
      TEXT,
      text("Hello"),
      end(),
      STOP,
    ),
    // Tokens that were written to the cache cost a quarter more.
    expect: { ...answered, cost: 110 + 63 + 25 },
  },
  {
    name: "messages-thinking-apart",
    from: ["vercel/ai#12425"],
    dialect: "messages",
    whole: whole({ usage: { ...USAGE, output_tokens_details: { thinking_tokens: 100 } } }),
    streamed: hello(
      end("end_turn", { output_tokens: 5, output_tokens_details: { thinking_tokens: 100 } }),
      STOP,
    ),
    expect: { ...answered, cost: 10 + 105 * 5 },
  },
  {
    name: "messages-output-counted-at-start-only",
    from: ["vybestack/llxprt-code#1860"],
    dialect: "messages",
    streamed: streamed(start(), TEXT, text("Hello there. ".repeat(100)), end("end_turn", null), STOP),
    expect: { finish: "stop", isEstimated: true, atLeast: 10 + 250 * 5 },
    managed: { isEstimated: false, cost: null, chargesHold: true, atLeast: undefined },
  },
  {
    name: "messages-heartbeats",
    from: ["anthropics/anthropic-sdk-typescript#903", "Growth-Circle/cadis#362"],
    dialect: "messages",
    streamed: streamed(
      start(),
      "event: content_block_delta\n\n",
      "data:\n\n",
      ": comment\n\n",
      TEXT,
      say("ping"),
      "data: ping\n\n",
      text("Hel"),
      say("something_new", { index: "x", delta: "y", message: 3 }),
      text("lo"),
      piece(0, { type: "signature_delta", signature: "c2ln" }),
      end(),
      STOP,
    ),
    expect: answered,
  },
  {
    name: "messages-blocks-not-announced",
    from: ["looplj/axonhub#2000"],
    dialect: "messages",
    streamed: streamed(
      start(),
      event({ type: "content_block_delta", delta: { type: "thinking_delta", thinking: "Greet." } }),
      event({ type: "content_block_delta", delta: { type: "text_delta", text: "Hel" } }),
      event({ type: "content_block_delta", delta: { type: "text_delta", text: "lo" } }),
      end(),
      STOP,
    ),
    expect: answered,
  },
  {
    name: "messages-content-is-text",
    from: ["looplj/axonhub#2000"],
    dialect: "messages",
    whole: whole({ content: "Hello" }),
    expect: answered,
  },
];
