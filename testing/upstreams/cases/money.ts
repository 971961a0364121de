import {
  COST,
  chunk,
  completion,
  DONE,
  type Expected,
  event,
  stream,
  type UpstreamCase,
  USAGE,
  usageChunk,
} from "../upstream";

/* The places and names of the usage that servers report, and the cost of an answer without usage. */

const HELLO = { content: "Hello" };

/** The same usage in a whole answer and in the last chunk of a streamed one. */
const reporting = (usage: unknown) => ({
  whole: completion(HELLO, { usage }),
  streamed: stream(chunk(HELLO, { finish: "stop" }), usageChunk(usage), DONE),
});
const answered = { text: "Hello", finish: "stop" } as const;

/** A pinned execution needs the usage as evidence. */
const WITHOUT_EVIDENCE: Expected = { fails: "PROVIDER_ERROR" };

export const MONEY: readonly UpstreamCase[] = [
  {
    name: "reasoning-beside-completion",
    from: ["Wei-Shaw/sub2api#5771", "vercel/ai#12425", "UKGovernmentBEIS/inspect_ai#5528"],
    dialect: "chat",
    ...reporting({
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 399,
      completion_tokens_details: { reasoning_tokens: 386 },
    }),
    expect: { ...answered, cost: 786 },
  },
  {
    name: "reasoning-beside-without-total",
    from: ["vercel/ai#12425"],
    dialect: "chat",
    ...reporting({
      prompt_tokens: 12,
      completion_tokens: 1,
      completion_tokens_details: { reasoning_tokens: 386 },
    }),
    expect: { ...answered, cost: 786 },
  },
  {
    name: "reasoning-at-the-top-of-usage",
    from: ["bgeneto/open-webui-cost-tracker#6", "BerriAI/litellm#11938"],
    dialect: "chat",
    ...reporting({
      prompt_tokens: 108,
      completion_tokens: 32,
      total_tokens: 140,
      citation_tokens: 72,
      num_search_queries: 7,
      reasoning_tokens: 732,
    }),
    expect: { ...answered, cost: 108 + (32 + 732) * 2 },
  },
  {
    name: "reasoning-inside-completion",
    from: ["https://platform.openai.com/docs/api-reference/chat"],
    dialect: "chat",
    ...reporting({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      completion_tokens_details: { reasoning_tokens: 4 },
    }),
    expect: { ...answered, cost: COST },
  },
  {
    name: "usage-in-choice",
    from: ["earendil-works/pi#2017", "AstrBotDevs/AstrBot#6614", "alibaba/higress#1568"],
    dialect: "chat",
    whole: completion(HELLO, {
      usage: undefined,
      choices: [{ index: 0, finish_reason: "stop", message: HELLO, usage: USAGE }],
    }),
    streamed: stream(
      chunk(HELLO),
      event({ choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: USAGE }] }),
      DONE,
    ),
    expect: { ...answered, cost: COST },
  },
  {
    name: "usage-of-groq",
    from: ["earendil-works/pi#2017"],
    dialect: "chat",
    whole: completion(HELLO, { usage: undefined, x_groq: { id: "req_1", usage: USAGE } }),
    streamed: stream(
      chunk(HELLO),
      chunk({}, { finish: "stop", x_groq: { id: "req_1", usage: USAGE } }),
      DONE,
    ),
    expect: { ...answered, cost: COST },
  },
  {
    name: "usage-by-anthropics-names",
    from: ["earendil-works/pi#2017"],
    dialect: "chat",
    ...reporting({ input_tokens: 10, output_tokens: 5 }),
    expect: { ...answered, cost: COST },
  },
  {
    name: "usage-by-geminis-names",
    from: ["alibaba/higress#1568"],
    dialect: "chat",
    whole: completion(HELLO, {
      usage: undefined,
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    }),
    streamed: stream(
      chunk(HELLO, { finish: "stop" }),
      event({
        choices: [],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      }),
      DONE,
    ),
    expect: { ...answered, cost: COST },
  },
  {
    name: "zeros-after-usage",
    from: ["https://github.com/ggml-org/llama.cpp/tree/master/tools/server"],
    dialect: "chat",
    streamed: stream(
      chunk(HELLO, { finish: "stop", usage: USAGE }),
      usageChunk({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
      event({ choices: [], usage: {} }),
      DONE,
    ),
    expect: { ...answered, cost: COST },
  },
  {
    name: "cached-above-input",
    from: ["lobehub/lobe-chat#7381"],
    dialect: "chat",
    ...reporting({ ...USAGE, prompt_tokens_details: { cached_tokens: 500 } }),
    expect: { ...answered, cost: COST },
  },
  {
    name: "cost-with-own-key",
    from: ["tailcallhq/forgecode#1641", "RooCodeInc/Roo-Code#5144", "DataDog/dd-trace-py#19324"],
    dialect: "chat",
    ...reporting({
      prompt_tokens: 10,
      completion_tokens: 5,
      cost: 0,
      is_byok: true,
      cost_details: { upstream_inference_cost: 0.036 },
    }),
    expect: { ...answered, reportedMicros: 36_000 },
  },
  {
    name: "cost-in-parts",
    from: ["bgeneto/open-webui-cost-tracker#6"],
    dialect: "chat",
    ...reporting({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      cost: {
        input_tokens_cost: 0.000_2,
        output_tokens_cost: 0.002_6,
        request_cost: null,
        total_cost: 0.015_2,
      },
    }),
    expect: { ...answered, reportedMicros: 15_200 },
  },
  {
    name: "no-usage",
    from: ["https://github.com/ollama/ollama/blob/main/docs/openai.md"],
    dialect: "chat",
    whole: completion(HELLO, { usage: undefined }),
    streamed: stream(chunk(HELLO, { finish: "stop" }), DONE),
    expect: { ...answered, isEstimated: true },
    managed: { isEstimated: false, cost: null, chargesHold: true },
    pinned: WITHOUT_EVIDENCE,
  },
  {
    name: "usage-is-null",
    from: ["BerriAI/litellm#29150"],
    dialect: "chat",
    ...reporting(null),
    expect: { ...answered, isEstimated: true },
    managed: { isEstimated: false, cost: null, chargesHold: true },
    pinned: WITHOUT_EVIDENCE,
  },
  {
    name: "usage-is-negative",
    from: ["BerriAI/litellm#29150"],
    dialect: "chat",
    ...reporting({ prompt_tokens: -1, completion_tokens: -1, total_tokens: -2 }),
    expect: { ...answered, isEstimated: true },
    managed: { isEstimated: false, cost: null, chargesHold: true },
    pinned: WITHOUT_EVIDENCE,
  },
  {
    name: "only-a-total",
    from: ["https://docs.cohere.com/docs/compatibility-api"],
    dialect: "chat",
    ...reporting({ prompt_tokens: 10, total_tokens: 15 }),
    expect: { ...answered, cost: COST },
  },
  {
    name: "reasoning-without-usage",
    from: ["https://api-docs.deepseek.com/guides/reasoning_model"],
    dialect: "chat",
    whole: completion(
      { content: "Hello", reasoning_content: "Greet back. ".repeat(50) },
      { usage: undefined },
    ),
    streamed: stream(
      chunk({ reasoning_content: "Greet back. ".repeat(50) }),
      chunk(HELLO, { finish: "stop" }),
      DONE,
    ),
    expect: { ...answered, isEstimated: true, atLeast: 300 },
    managed: { isEstimated: false, cost: null, chargesHold: true, atLeast: undefined },
    pinned: { ...WITHOUT_EVIDENCE, atLeast: undefined },
  },
];
