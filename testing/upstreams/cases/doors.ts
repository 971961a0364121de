import {
  COST,
  chunk,
  completion,
  DONE,
  event,
  stream,
  type UpstreamCase,
  USAGE,
  usageChunk,
} from "../upstream";

/* Refusals, which OpenAI's interfaces represent in a member of their own. */

const REFUSAL = "I cannot help with that.";
const SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const REFUSED = [
  "https://platform.openai.com/docs/guides/structured-outputs#refusals",
  "https://github.com/vercel/ai/issues/2816",
];

const RESPONSE = {
  id: "resp_1",
  object: "response",
  model: "upstream-1",
  status: "completed",
  output: [{ type: "message", role: "assistant", content: [{ type: "refusal", refusal: REFUSAL }] }],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};

export const DOORS: readonly UpstreamCase[] = [
  {
    name: "refusal-in-its-own-member",
    from: REFUSED,
    dialect: "chat",
    whole: completion({ content: null, refusal: REFUSAL }),
    streamed: stream(
      chunk({ role: "assistant", content: "" }),
      chunk({ refusal: "I cannot help " }),
      chunk({ refusal: "with that." }),
      chunk({}, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: { text: REFUSAL, isRefusal: true, finish: "stop", cost: COST },
  },
  {
    name: "refusal-beside-a-schema",
    from: REFUSED,
    dialect: "chat",
    request: { response_format: { type: "json_schema", json_schema: { name: "person", schema: SCHEMA } } },
    whole: completion({ content: null, refusal: REFUSAL }),
    streamed: stream(chunk({ refusal: REFUSAL }), chunk({}, { finish: "stop", usage: USAGE }), DONE),
    expect: { text: REFUSAL, isRefusal: true, finish: "stop", cost: COST },
    ofEnvelope: { fails: "ProviderRejected", cost: COST },
  },
  {
    name: "refusal-of-a-response",
    from: REFUSED,
    dialect: "responses",
    whole: { body: RESPONSE },
    streamed: stream(
      event({ type: "response.refusal.delta", delta: REFUSAL }, "response.refusal.delta"),
      event({ type: "response.completed", response: RESPONSE }, "response.completed"),
    ),
    expect: { text: REFUSAL, isRefusal: true, finish: "stop" },
  },
];
