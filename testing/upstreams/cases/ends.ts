import {
  COST,
  choice,
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

/* The end of an answer, and whether it ended well. */

/** The provider fails after it delivered some text, which is charged by an estimate. */
const afterHello: Expected = { fails: "PROVIDER_ERROR", text: "Hello", isEstimated: true };
/** The stream breaks off, so it is unknown whether the provider charges. */
const LOST: Expected = { fails: "TRANSPORT_AMBIGUOUS", submission: "ambiguous", hold: "ambiguous" };

export const ENDS: readonly UpstreamCase[] = [
  {
    name: "plain",
    from: ["https://platform.openai.com/docs/api-reference/chat"],
    dialect: "chat",
    whole: completion({ content: "Hello" }),
    streamed: stream(
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "error-object-in-stream",
    from: ["vllm-project/vllm#10463"],
    dialect: "chat",
    streamed: stream(
      chunk({ content: "Hello" }),
      event({ object: "error", message: "The engine died.", code: 500 }),
      DONE,
    ),
    expect: {
      fails: "PROVIDER_ERROR",
      text: "Hello",
      isEstimated: true,
      said: { code: null, message: "The engine died." },
    },
  },
  {
    name: "finish-max-tokens",
    from: ["BerriAI/litellm#25825"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "MAX_TOKENS" }),
    streamed: stream(chunk({ content: "Hello" }), chunk({}, { finish: "max_tokens" }), usageChunk(), DONE),
    expect: { text: "Hello", finish: "length", cost: COST },
  },
  {
    name: "reset-before-done",
    from: ["maximhq/bifrost#6784"],
    dialect: "chat",
    streamed: stream(chunk({ content: "Hello" }, { finish: "stop" }), usageChunk(), "reset"),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "error-event-in-stream",
    from: ["vllm-project/vllm#10463", "yoloyash/overtchat#40"],
    dialect: "chat",
    streamed: stream(
      chunk({ content: "Hello" }),
      event({ message: "The engine died.", code: "engine_dead" }, "error"),
      DONE,
    ),
    expect: { ...afterHello, said: { code: "engine_dead", message: "The engine died." } },
  },
  {
    name: "error-member-in-stream",
    from: ["diegosouzapw/OmniRoute#8210", "BerriAI/litellm#39748"],
    dialect: "chat",
    streamed: stream(
      chunk({ content: "Hello" }),
      event({ error: { message: "Upstream broke.", type: "server_error" } }),
    ),
    expect: { ...afterHello, said: { code: "server_error", message: "Upstream broke." } },
  },
  {
    name: "error-inside-choice",
    from: ["https://openrouter.ai/docs/api-reference/errors"],
    dialect: "chat",
    whole: completion(
      { content: "Hello" },
      {
        finish: "error",
        choices: [choice({ content: "Hello" }, "error", { error: { code: 502, message: "Bad gateway." } })],
      },
    ),
    streamed: stream(
      chunk({ content: "Hello" }),
      event({
        choices: [
          {
            index: 0,
            delta: { content: "" },
            finish_reason: "error",
            error: { code: 502, message: "Bad gateway." },
          },
        ],
      }),
      DONE,
    ),
    expect: { fails: "PROVIDER_ERROR", hold: "released" },
    ofStream: afterHello,
  },
  {
    name: "finish-error-with-usage",
    from: ["https://openrouter.ai/docs/api-reference/errors"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "error" }),
    streamed: stream(chunk({ content: "Hello" }), chunk({}, { finish: "error" }), usageChunk(), DONE),
    expect: { fails: "PROVIDER_ERROR", text: "Hello", cost: COST },
  },
  {
    name: "finish-aborted",
    from: ["sgl-project/sglang#2394", "vllm-project/vllm#5422"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "abort" }),
    streamed: stream(chunk({ content: "Hello" }), chunk({}, { finish: "abort" }), usageChunk(), DONE),
    expect: { fails: "PROVIDER_ERROR", text: "Hello", cost: COST },
  },
  {
    name: "finish-no-resources",
    from: ["https://api-docs.deepseek.com/api/create-chat-completion"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "insufficient_system_resource" }),
    streamed: stream(
      chunk({ content: "Hello" }),
      chunk({}, { finish: "insufficient_system_resource" }),
      usageChunk(),
      DONE,
    ),
    expect: { fails: "PROVIDER_ERROR", text: "Hello", cost: COST },
  },
  {
    name: "finish-unknown-whole",
    from: ["QwenLM/qwen-code#9884"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "matched_stop_word" }),
    streamed: stream(
      chunk({ content: "Hello" }),
      chunk({}, { finish: "matched_stop_word" }),
      usageChunk(),
      DONE,
    ),
    expect: { text: "Hello", finish: "stop", cost: COST, unknownFinish: "matched_stop_word" },
  },
  {
    name: "finish-unknown-without-done",
    from: ["QwenLM/qwen-code#9884"],
    dialect: "chat",
    streamed: stream(chunk({ content: "Hello" }), chunk({}, { finish: "matched_stop_word" }), usageChunk()),
    expect: LOST,
  },
  {
    name: "finish-model-length",
    from: ["UKGovernmentBEIS/inspect_ai#5143", "https://docs.mistral.ai/api"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "model_length" }),
    streamed: stream(chunk({ content: "Hello" }), chunk({}, { finish: "model_length" }), usageChunk(), DONE),
    expect: { text: "Hello", finish: "length", cost: COST },
  },
  {
    name: "finish-end-turn",
    from: ["BerriAI/litellm#25825"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: "end_turn" }),
    streamed: stream(chunk({ content: "Hello" }), chunk({}, { finish: "eos" }), usageChunk(), DONE),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "finish-missing-whole",
    from: ["ollama/ollama#10139"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { finish: null }),
    streamed: stream(chunk({ content: "Hello" }), usageChunk(), DONE),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "stream-breaks-off",
    from: ["command-code#785", "NVIDIA/TensorRT-LLM#18289"],
    dialect: "chat",
    streamed: stream(chunk({ content: "Hello" })),
    expect: LOST,
  },
  {
    name: "stream-reset-in-text",
    from: ["NVIDIA/TensorRT-LLM#18289"],
    dialect: "chat",
    streamed: stream(chunk({ content: "Hello" }), "reset"),
    expect: LOST,
  },
  {
    name: "stream-without-done",
    from: ["ollama/ollama#15457"],
    dialect: "chat",
    streamed: stream(chunk({ content: "Hello" }, { finish: "stop" }), usageChunk()),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "usage-before-last-text",
    from: ["NousResearch/hermes-agent#91373"],
    dialect: "chat",
    streamed: stream(
      chunk({ content: "Hel" }, { usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }),
      chunk({ content: "lo" }, { finish: "stop" }),
      usageChunk(),
      DONE,
    ),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "choices-null-with-usage",
    from: ["NousResearch/hermes-agent#91373"],
    dialect: "chat",
    streamed: stream(
      chunk({ content: "Hello" }, { finish: "stop" }),
      event({ id: "chatcmpl-1", choices: null, usage: USAGE }),
      DONE,
    ),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "delta-null",
    from: ["NousResearch/hermes-agent#91373"],
    dialect: "chat",
    streamed: stream(
      event({ choices: [{ index: 0, delta: null }] }),
      chunk({ content: "Hello" }),
      event({ choices: [{ index: 0, delta: null, finish_reason: "stop" }] }),
      usageChunk(),
      DONE,
    ),
    expect: { text: "Hello", finish: "stop", cost: COST },
  },
  {
    name: "empty-choices",
    from: ["diegosouzapw/OmniRoute#3424"],
    dialect: "chat",
    whole: completion({ content: "Hello" }, { choices: [] }),
    expect: { fails: "PROVIDER_ERROR", hold: "released" },
  },
];
