import { defineObject } from "./text/conversation";
import { SHORT_TEXT } from "./text/kinds";

export default defineObject({
  key: "text.structured.generation.v1",
  title: "Structured generation",
  description:
    "Answers a conversation with one JSON object. Give a JSON Schema in `responseSchema` and the answer must match it.",
  modes: ["invoke_sync", "job_async"],
  intentExamples: [
    "Extract name and date from a sentence as JSON",
    "Generate three product ideas as a JSON object",
    "Fill this JSON Schema from a description",
  ],
  synonyms: [
    "json",
    "json schema",
    "structured output",
    "object",
    "extract",
    "fields",
    "key value",
    "typed",
    "machine readable",
  ],
  taskTags: ["structured-output", "json", "extraction", "generation"],
  readySummary: "One JSON object per run, which matches your schema if you give one.",
  ...SHORT_TEXT,
  contextTokens: 128_000,
  examples: [
    {
      title: "An object that satisfies a schema",
      input: {
        messages: [{ role: "user", content: "Suggest a name and a slogan for a bakery by the sea." }],
        responseSchema: {
          type: "object",
          properties: { name: { type: "string" }, slogan: { type: "string" } },
          required: ["name", "slogan"],
          additionalProperties: false,
        },
      },
    },
    {
      title: "Any JSON object",
      input: {
        messages: [
          { role: "system", content: "Answer as JSON." },
          { role: "user", content: "List three rivers of Europe." },
        ],
        responseFormat: "json_object",
      },
    },
  ],
  answer: { budget: 16_384, prefer: ["fast"] },
});
