import { StructuredOutput, TextInput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toObject } from "./text/execute";
import { durable, inTokens, SHORT_SYNC, STRUCTURED_ERRORS, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 128_000;
const limits = { sync: SHORT_SYNC, durable: durable(120) };

export default defineCapability({
  key: "text.structured.ranking.v1",
  title: "Structured ranking",
  description:
    "Puts options in order by the criteria in the conversation, as one JSON object. Give a JSON Schema in `responseSchema` and the answer must match it.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "job_async"],
  input: TextInput,
  output: StructuredOutput,
  inputConstraints: { messages: inTokens(CONTEXT_TOKENS) },
  features: textFeatures(limits, CONTEXT_TOKENS, { jsonSchema: true, errorCodes: STRUCTURED_ERRORS }),
  inputMediaTypes: ["text/plain"],
  outputKind: "structured",
  outputMediaType: "application/json",
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
  trialEligible: true,
  readySummary: "Options in order, as one JSON object.",
  ...limits,
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
  execute: toObject({ budget: 16_384, prefer: ["reasoning", "fast"] }),
});
