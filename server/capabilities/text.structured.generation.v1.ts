import { StructuredOutput, TextInput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toObject } from "./text/execute";
import { durable, inTokens, SHORT_SYNC, STRUCTURED_ERRORS, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 128_000;
const limits = { sync: SHORT_SYNC, durable: durable(120) };

export default defineCapability({
  key: "text.structured.generation.v1",
  title: "Structured generation",
  description:
    "Answers a conversation with one JSON object. Give a JSON Schema in `responseSchema` and the answer must match it.",
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
  trialEligible: true,
  readySummary: "One JSON object per run, which matches your schema if you give one.",
  ...limits,
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
  execute: toObject({ budget: 16_384, prefer: ["fast"] }),
});
