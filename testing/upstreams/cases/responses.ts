import { type Answer, type Expected, event, type Piece, stream, type UpstreamCase } from "../upstream";

/* OpenAI's Responses API and its copies. Ten tokens in and five out cost 40 micros on the model of these cases. */

const COST = 40;
const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

const message = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const HELLO = message("Hello");

/** A response with these members in place of its own; undefined leaves one out. */
const response = (members: object = {}) => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "upstream-1",
  service_tier: "default",
  error: null,
  incomplete_details: null,
  output: [HELLO],
  usage: USAGE,
  ...members,
});
const whole = (members: object = {}): Answer => ({ body: response(members) });

/** An event whose name is also in its data, as the vendor sends it. */
const say = (type: string, members: object = {}) => event({ type, ...members }, type);
const delta = (text: string) => say("response.output_text.delta", { item_id: "msg_1", delta: text });
const last = (type: string, members: object = {}) => say(type, { response: response(members) });

/** A stream with the usual first events. */
const streamed = (...pieces: Piece[]): Answer =>
  stream(
    say("response.created", {
      response: response({ status: "in_progress", output: [], usage: null }),
    }),
    ...pieces,
  );

/** The same answer whole and streamed, with this type of last event. */
const both = (members: object, type = "response.completed") => ({
  whole: whole(members),
  streamed: streamed(delta("Hello"), last(type, members)),
});

const answered: Expected = { text: "Hello", finish: "stop", cost: COST };
const afterHello: Expected = { fails: "PROVIDER_ERROR", text: "Hello", isEstimated: true };
const LOST: Expected = { fails: "TRANSPORT_AMBIGUOUS", submission: "ambiguous", hold: "ambiguous" };
const FULL: Expected = { fails: "ProviderUnavailable", hold: "released", isSafe: true, status: 503 };
/**
 * The outcomes without a reported usage: our estimate for own accounts, the whole hold for the operator's, and a failure for
 * pins.
 */
const unreported = (text = "Hello"): Pick<UpstreamCase, "expect" | "managed" | "pinned"> => ({
  expect: { text, finish: "stop", isEstimated: true },
  managed: { isEstimated: false, cost: null, chargesHold: true },
  pinned: { fails: "PROVIDER_ERROR" },
});

export const RESPONSES: readonly UpstreamCase[] = [
  {
    name: "responses-plain",
    from: ["https://platform.openai.com/docs/api-reference/responses"],
    dialect: "responses",
    whole: whole(),
    streamed: streamed(delta("Hel"), delta("lo"), last("response.completed")),
    expect: answered,
  },
  {
    name: "responses-failed-event",
    from: ["langchain-ai/langchain#39039", "bigduu/Bamboo-agent#405", "vllm-project/vllm#38190"],
    dialect: "responses",
    streamed: streamed(
      delta("Hello"),
      last("response.failed", {
        status: "failed",
        error: { code: "server_error", message: "The engine died." },
        usage: null,
      }),
    ),
    expect: { ...afterHello, said: { code: "server_error", message: "The engine died." } },
  },
  {
    name: "responses-failed-without-response",
    from: ["langchain-ai/langchain#39178"],
    dialect: "responses",
    streamed: streamed(delta("Hello"), say("response.failed", { error: null })),
    expect: afterHello,
  },
  {
    name: "responses-failed-with-usage",
    from: ["langchain-ai/langchain#39701"],
    dialect: "responses",
    whole: whole({ status: "failed", error: { code: "server_error", message: "It broke." }, output: [] }),
    streamed: streamed(
      delta("Hello"),
      last("response.failed", { status: "failed", error: { code: "server_error", message: "It broke." } }),
    ),
    expect: { fails: "PROVIDER_ERROR", cost: COST, said: { code: "server_error", message: "It broke." } },
  },
  {
    name: "responses-error-event",
    from: ["langchain-ai/langchain#39178", "GetStream/Vision-Agents#501"],
    dialect: "responses",
    streamed: streamed(
      delta("Hello"),
      say("error", { code: "server_error", message: "Overloaded upstream.", param: null }),
    ),
    expect: { ...afterHello, said: { code: "server_error", message: "Overloaded upstream." } },
  },
  {
    name: "responses-error-event-of-words",
    from: ["BerriAI/litellm#32475"],
    dialect: "responses",
    streamed: streamed(delta("Hello"), "event: error\ndata: upstream connect error\n\n"),
    expect: { ...afterHello, said: { code: null, message: "upstream connect error" } },
  },
  {
    name: "responses-full-before-text",
    from: ["langchain-ai/langchain#39039"],
    dialect: "responses",
    whole: {
      ...whole({
        status: "failed",
        error: { code: "rate_limit_exceeded", message: "Slow down." },
        output: [],
        usage: null,
      }),
      headers: { "retry-after": "3600" },
    },
    streamed: {
      ...streamed(
        last("response.failed", {
          status: "failed",
          error: { code: "rate_limit_exceeded", message: "Slow down." },
          output: [],
          usage: null,
        }),
      ),
      headers: { "content-type": "text/event-stream", "retry-after": "3600" },
    },
    expect: { ...FULL, said: { code: "rate_limit_exceeded", message: "Slow down." } },
  },
  {
    name: "responses-error-body",
    from: ["nodetool-ai/nodetool#5755", "maximhq/bifrost#5963"],
    dialect: "responses",
    whole: {
      headers: { "retry-after": "3600" },
      body: { error: { code: 429, message: "Rate limited." } },
    },
    expect: { ...FULL, said: { code: null, message: "Rate limited." } },
  },
  {
    name: "responses-completed-with-error",
    from: ["langchain-ai/langchain#39178"],
    dialect: "responses",
    ...both({ error: { code: "server_error", message: "Half an answer." } }),
    expect: { fails: "PROVIDER_ERROR", cost: COST },
  },
  {
    name: "responses-failed-at-flex",
    from: ["https://developers.openai.com/api/docs/guides/flex-processing"],
    dialect: "responses",
    whole: whole({
      service_tier: "flex",
      status: "failed",
      error: { code: "server_error", message: "It broke." },
    }),
    // The tier in the answer is charged, whichever was requested.
    expect: { fails: "PROVIDER_ERROR", cost: COST / 2 },
  },
  {
    name: "responses-cancelled",
    from: ["https://platform.openai.com/docs/api-reference/responses/object"],
    dialect: "responses",
    whole: whole({ status: "cancelled" }),
    streamed: streamed(delta("Hello"), last("response.cancelled", { status: "cancelled" })),
    expect: { fails: "PROVIDER_ERROR", cost: COST },
  },
  {
    name: "responses-breaks-off",
    from: ["bigduu/Bamboo-agent#405"],
    dialect: "responses",
    streamed: streamed(delta("Hello"), event("[DONE]")),
    expect: LOST,
  },
  {
    name: "responses-empty-completed",
    from: ["QuantumNous/new-api#4362", "agentgateway/agentgateway#2281"],
    dialect: "responses",
    streamed: streamed(delta("Hel"), delta("lo"), last("response.completed", { output: [] })),
    expect: answered,
  },
  {
    name: "responses-output-in-items",
    from: ["QuantumNous/new-api#4362"],
    dialect: "responses",
    request: {
      tools: [{ type: "function", function: { name: "get_time", parameters: { type: "object" } } }],
    },
    streamed: streamed(
      say("response.output_item.done", {
        item: { type: "function_call", call_id: "call_1", name: "get_time", arguments: '{"tz":"CET"}' },
      }),
      last("response.completed", { output: undefined }),
    ),
    expect: {
      calls: [{ id: "call_1", name: "get_time", arguments: '{"tz":"CET"}' }],
      finish: "tool_calls",
      cost: COST,
    },
  },
  {
    name: "responses-without-deltas",
    from: ["TanStack/ai#937", "agentclientprotocol/codex-acp#500"],
    dialect: "responses",
    streamed: streamed(last("response.completed")),
    expect: answered,
  },
  {
    name: "responses-cut-off",
    from: ["https://platform.openai.com/docs/guides/reasoning"],
    dialect: "responses",
    ...both(
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      "response.incomplete",
    ),
    expect: { text: "Hello", finish: "length", cost: COST },
  },
  {
    name: "responses-unknown-status",
    from: ["plastic-labs/honcho#1049"],
    dialect: "responses",
    ...both({ status: "settled" }),
    expect: { ...answered, unknownFinish: "settled" },
  },
  {
    name: "responses-without-usage",
    from: ["github/copilot-sdk#2010"],
    dialect: "responses",
    ...both({ usage: null }),
    ...unreported(),
  },
  {
    name: "responses-reasoning-apart",
    from: ["vercel/ai#12425"],
    dialect: "responses",
    ...both({
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 100 },
        total_tokens: 115,
      },
    }),
    expect: { ...answered, cost: 10 + 105 * 6 },
  },
  {
    name: "responses-heartbeats",
    from: ["diegosouzapw/OmniRoute#1146", "caozhiyuan/copilot-api#88", "Growth-Circle/cadis#362"],
    dialect: "responses",
    streamed: streamed(
      ": keepalive\n\n",
      "data:\n\n",
      "event: keepalive\n\n",
      delta("Hel"),
      "data: ping\n\n",
      "retry: 3000\n\n",
      say("response.something.new", { delta: { deep: [1] }, item: 7, response: "none" }),
      delta("lo"),
      last("response.completed"),
    ),
    expect: answered,
  },
  {
    name: "responses-types-in-names",
    from: ["openclaw/openclaw#134788"],
    dialect: "responses",
    streamed: streamed(
      event({ delta: "Hello" }, "response.output_text.delta"),
      event({ response: response() }, "response.completed"),
    ),
    expect: answered,
  },
];
