import { type Answer, type Expected, event, stream, type UpstreamCase } from "../upstream";

/* Gemini's generateContent and its copies. Ten tokens in and five out cost 53 micros on the model of these cases. */

const COST = 53;
const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

type Members = { finish?: string | null; parts?: object[]; [member: string]: unknown };
/** A whole answer, or a piece of one, which has the same form. */
const generated = (text: string, { finish = null, parts, ...members }: Members = {}) => ({
  candidates: [
    {
      index: 0,
      ...(parts || text ? { content: { role: "model", parts: parts ?? [{ text }] } } : {}),
      ...(finish ? { finishReason: finish } : {}),
    },
  ],
  modelVersion: "upstream-1",
  responseId: "r1",
  ...members,
});
const piece = (text: string, members: Members = {}) => event(generated(text, members));
const whole = (members: Members = {}): Answer => ({
  body: generated("Hello", { finish: "STOP", usageMetadata: USAGE, ...members }),
});
/** The same answer whole, and in two pieces of which the last has these members. */
const both = (members: Members) => ({
  whole: whole(members),
  streamed: stream(piece("Hel"), piece("lo", { finish: "STOP", usageMetadata: USAGE, ...members })),
});

const answered: Expected = { text: "Hello", finish: "stop", cost: COST };
const afterHello: Expected = { fails: "PROVIDER_ERROR", text: "Hello", isEstimated: true };
const LOST: Expected = { fails: "TRANSPORT_AMBIGUOUS", submission: "ambiguous", hold: "ambiguous" };
const FULL: Expected = { fails: "ProviderUnavailable", hold: "released", isSafe: true, status: 503 };
const EXHAUSTED = { error: { code: 429, message: "Quota exceeded.", status: "RESOURCE_EXHAUSTED" } };
const BLOCKED = {
  promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
  usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
};

export const GEMINI: readonly UpstreamCase[] = [
  {
    name: "gemini-plain",
    from: ["https://ai.google.dev/api/generate-content"],
    dialect: "gemini",
    ...both({}),
    expect: answered,
  },
  {
    name: "gemini-usage-in-every-piece",
    from: ["pydantic/pydantic-ai#1577", "langchain-ai/langchainjs#8694", "xalgorix/xalgorix#280"],
    dialect: "gemini",
    streamed: stream(
      piece("Hel", { usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 } }),
      piece("l", { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 13 } }),
      piece("o", { finish: "STOP", usageMetadata: USAGE }),
    ),
    expect: answered,
  },
  {
    name: "gemini-usage-before-the-end",
    from: ["agentjido/req_llm#638"],
    dialect: "gemini",
    streamed: stream(
      piece("Hello", { usageMetadata: USAGE }),
      piece("", { finish: "STOP", usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0 } }),
    ),
    expect: answered,
  },
  {
    name: "gemini-thinking-apart",
    from: ["langchain-ai/langchainjs#11423", "envoyproxy/ai-gateway#2259", "simstudioai/sim#3039"],
    dialect: "gemini",
    ...both({ usageMetadata: { ...USAGE, thoughtsTokenCount: 100, totalTokenCount: 115 } }),
    expect: { ...answered, cost: 15 + Math.ceil(105 * 7.5) },
  },
  {
    name: "gemini-thinking-in-total-alone",
    from: ["langchain-ai/langchainjs#11423"],
    dialect: "gemini",
    ...both({ usageMetadata: { ...USAGE, totalTokenCount: 115 } }),
    expect: { ...answered, cost: 15 + Math.ceil(105 * 7.5) },
  },
  {
    name: "gemini-thoughts-are-no-text",
    from: ["fawney19/Aether#489"],
    dialect: "gemini",
    ...both({ parts: [{ text: "Greet back.", thought: true }, { text: "Hello" }] }),
    streamed: stream(
      piece("", { parts: [{ text: "Greet back.", thought: true }] }),
      piece("Hello", { finish: "STOP", usageMetadata: USAGE }),
    ),
    expect: answered,
  },
  {
    name: "gemini-error-in-stream",
    from: ["https://ai.google.dev/gemini-api/docs/troubleshooting"],
    dialect: "gemini",
    streamed: stream(
      piece("Hello"),
      event({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
    ),
    expect: { ...afterHello, said: { code: "UNAVAILABLE", message: "The model is overloaded." } },
  },
  {
    name: "gemini-full-before-text",
    from: ["nodetool-ai/nodetool#5755"],
    dialect: "gemini",
    whole: { headers: { "retry-after": "3600" }, body: EXHAUSTED },
    streamed: {
      ...stream(event(EXHAUSTED)),
      headers: { "content-type": "text/event-stream", "retry-after": "3600" },
    },
    expect: { ...FULL, said: { code: "RESOURCE_EXHAUSTED", message: "Quota exceeded." } },
  },
  {
    name: "gemini-malformed-call",
    from: ["NousResearch/hermes-agent#83886", "mcowger/plexus#748"],
    dialect: "gemini",
    ...both({ finish: "MALFORMED_FUNCTION_CALL" }),
    expect: { fails: "PROVIDER_ERROR", text: "Hello", cost: COST },
  },
  {
    name: "gemini-unknown-end",
    from: ["Tiendil/feeds.fun#385"],
    dialect: "gemini",
    ...both({ finish: "OTHER" }),
    expect: { ...answered, unknownFinish: "OTHER" },
  },
  {
    name: "gemini-unknown-end-and-reset",
    from: ["Tiendil/feeds.fun#385"],
    dialect: "gemini",
    streamed: stream(piece("Hello", { finish: "OTHER", usageMetadata: USAGE }), "reset"),
    expect: LOST,
  },
  {
    name: "gemini-reset-after-the-end",
    from: ["maximhq/bifrost#6784"],
    dialect: "gemini",
    streamed: stream(piece("Hello", { finish: "STOP", usageMetadata: USAGE }), "reset"),
    expect: answered,
  },
  {
    name: "gemini-end-in-every-piece",
    from: ["Chevey339/kelivo#1002", "higress-group/higress#2408"],
    dialect: "gemini",
    streamed: stream(
      piece("", { finish: "STOP", usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 } }),
      piece("Hel", { finish: "STOP", usageMetadata: USAGE }),
      { pauseMs: 2_500 }, // longer than the product reads on after an end
      piece("lo", { finish: "STOP", usageMetadata: USAGE }),
    ),
    expect: answered,
  },
  {
    name: "gemini-breaks-off",
    from: ["agentjido/req_llm#638"],
    dialect: "gemini",
    streamed: stream(piece("Hello", { usageMetadata: USAGE })),
    expect: LOST,
  },
  {
    name: "gemini-done-at-the-end",
    from: ["liuw1535/antigravity2api-nodejs#73"],
    dialect: "gemini",
    streamed: stream(piece("Hello", { finish: "STOP", usageMetadata: USAGE }), event("[DONE]")),
    expect: answered,
  },
  {
    name: "gemini-heartbeats",
    from: ["Growth-Circle/cadis#362"],
    dialect: "gemini",
    streamed: stream(
      "data:\n\n",
      ": comment\n\n",
      piece("Hel"),
      "data: ping\n\n",
      "event: ping\n\n",
      piece("lo", { finish: "STOP", usageMetadata: USAGE }),
    ),
    expect: answered,
  },
  {
    name: "gemini-prompt-blocked",
    from: ["mozilla-ai/any-llm#1306", "https://ai.google.dev/gemini-api/docs/safety-settings"],
    dialect: "gemini",
    whole: { body: BLOCKED },
    streamed: stream(event(BLOCKED)),
    expect: { fails: "ProviderRejected", cost: 15 },
    pinned: { fails: "PROVIDER_ERROR" },
  },
  {
    name: "gemini-filtered-in-mid-answer",
    from: ["mozilla-ai/any-llm#1306"],
    dialect: "gemini",
    ...both({ finish: "SAFETY" }),
    expect: { fails: "ProviderRejected", cost: COST },
    pinned: { fails: undefined },
  },
  {
    name: "gemini-cut-off",
    from: ["fawney19/Aether#489"],
    dialect: "gemini",
    ...both({ finish: "MAX_TOKENS" }),
    expect: { text: "Hello", finish: "length", cost: COST },
  },
  {
    name: "gemini-nothing-but-usage",
    from: ["fawney19/Aether#489"],
    dialect: "gemini",
    whole: { body: { usageMetadata: USAGE, modelVersion: "upstream-1" } },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: COST },
    pinned: { fails: "PROVIDER_ERROR" },
  },
  {
    name: "gemini-without-usage",
    from: ["PublicAffairs/openai-gemini#43"],
    dialect: "gemini",
    ...both({ usageMetadata: undefined }),
    expect: { text: "Hello", finish: "stop", isEstimated: true },
    managed: { isEstimated: false, cost: null, chargesHold: true },
    pinned: { fails: "PROVIDER_ERROR" },
  },
];
