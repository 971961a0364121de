import { StructuredOutput, TextInput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toObject } from "./text/execute";
import { durable, inTokens, LONG_SYNC, STRUCTURED_ERRORS, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 128_000;
const limits = { sync: LONG_SYNC, durable: durable(600) };

export default defineCapability({
  key: "text.structured.adjudication.v1",
  title: "Structured adjudication",
  description:
    "Judges a case by the rules you give and answers with one JSON object: a verdict, its reasons, how sure it is. Give a JSON Schema in `responseSchema` and the answer must match it.",
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
    "Decide whether this refund request follows the policy",
    "Judge which of two answers is better and say why",
    "Does this comment break the community rules?",
  ],
  synonyms: [
    "judge",
    "verdict",
    "decide",
    "evaluate",
    "arbitrate",
    "moderate",
    "policy check",
    "grade",
    "compare",
  ],
  taskTags: ["adjudication", "evaluation", "policy", "structured-output"],
  trialEligible: true,
  readySummary: "A verdict with reasons, as one JSON object.",
  ...limits,
  examples: [
    {
      title: "A refund",
      input: {
        messages: [
          { role: "system", content: "Refunds are given within 30 days for unused goods. Decide the case." },
          { role: "user", content: "Bought 12 days ago, box opened, never switched on." },
        ],
        responseSchema: {
          type: "object",
          properties: {
            verdict: { enum: ["grant", "refuse", "ask"] },
            reasons: { type: "array", items: { type: "string" } },
            confidence: { type: "number", minimum: 0, maximum: 1 },
          },
          required: ["verdict", "reasons", "confidence"],
          additionalProperties: false,
        },
      },
    },
  ],
  execute: toObject({
    budget: 16_384,
    only: ["reasoning", "frontier"],
    prefer: ["frontier", "reasoning"],
  }),
});
