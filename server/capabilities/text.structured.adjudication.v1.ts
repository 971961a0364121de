import { defineObject } from "./text/conversation";
import { LONG_TEXT } from "./text/kinds";

export default defineObject({
  key: "text.structured.adjudication.v1",
  title: "Structured adjudication",
  description:
    "Judges a case by the rules you give and answers with one JSON object: a verdict, its reasons, how sure it is. Give a JSON Schema in `responseSchema` and the answer must match it.",
  modes: ["invoke_sync", "job_async"],
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
  readySummary: "A verdict with reasons, as one JSON object.",
  ...LONG_TEXT,
  contextTokens: 128_000,
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
  answer: {
    budget: 16_384,
    only: ["reasoning", "frontier"],
    prefer: ["frontier", "reasoning"],
  },
});
