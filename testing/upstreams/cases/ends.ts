import { COST, chunk, completion, DONE, event, stream, type UpstreamCase, usageChunk } from "../upstream";

/* Where an answer ends, and whether it ended well. */

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
];
