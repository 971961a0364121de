import { defineObject } from "./text/conversation";
import { SHORT_TEXT } from "./text/kinds";

export default defineObject({
  key: "text.structured.ranking.v1",
  title: "Structured ranking",
  description:
    "Puts options in order by the criteria in the conversation, as one JSON object. Give a JSON Schema in `responseSchema` and the answer must match it.",
  modes: ["invoke_sync", "job_async"],
  intentExamples: [
    "Rank these applicants by fit for the role",
    "Sort search results by relevance to a question",
    "Order these headlines from best to worst",
  ],
  synonyms: [
    "rank",
    "rerank",
    "sort",
    "order",
    "prioritize",
    "prioritise",
    "score",
    "relevance",
    "best first",
  ],
  taskTags: ["ranking", "reranking", "scoring", "structured-output"],
  readySummary: "Options in order, as one JSON object.",
  ...SHORT_TEXT,
  contextTokens: 128_000,
  examples: [
    {
      title: "Headlines by appeal",
      input: {
        messages: [
          { role: "system", content: "Rank the headlines for a local newspaper, the best first." },
          { role: "user", content: "a: Bridge reopens\nb: Council meets\nc: Storm takes the pier" },
        ],
        responseSchema: {
          type: "object",
          properties: {
            ranking: {
              type: "array",
              items: {
                type: "object",
                properties: { id: { enum: ["a", "b", "c"] }, reason: { type: "string" } },
                required: ["id", "reason"],
                additionalProperties: false,
              },
            },
          },
          required: ["ranking"],
          additionalProperties: false,
        },
      },
    },
  ],
  answer: { budget: 16_384, prefer: ["reasoning", "fast"] },
});
