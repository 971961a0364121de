import { StructuredOutput, TextInput } from "@/server/contract/inputs";
import { CapabilityFault, defineCapability } from "./define";
import { acceptsText, outputCap, requireAnswer, toTextCall } from "./text/call";

/** Tokens a durable run may answer when the caller gives no hint. */
const OUTPUT_BUDGET = 16_384;
const CONTEXT_TOKENS = 128_000;

export default defineCapability({
  key: "text.structured.generation.v1",
  title: "Structured generation",
  description:
    "Answers a conversation with one JSON object. Give a JSON Schema in `responseSchema` and the answer is held to it.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "job_async"],
  input: TextInput,
  output: StructuredOutput,
  inputConstraints: {
    messages: { measurement: "tokens", max: CONTEXT_TOKENS, overflow: "reject", semantic: true },
  },
  features: {
    syncInvoke: { supported: true, maxOutputTokens: 2048, targetMaxDurationSeconds: 60 },
    durableJob: {
      supported: true,
      outputBudget: { mode: "derived", hintField: "maxOutputTokens" },
      defaultQueueDeadlineSeconds: 7200,
      maxQueueDeadlineSeconds: 7200,
      defaultExecutionDeadlineSeconds: 120,
      maxExecutionDeadlineSeconds: 600,
    },
    longContext: false,
    contextWindowTokens: CONTEXT_TOKENS,
    noSilentTruncation: true,
    documentInput: false,
    visionInput: false,
    jsonObject: true,
    jsonSchema: true,
    providerBacked: true,
    modelBacked: true,
    deterministic: false,
    executionClass: "provider",
    errorCodes: ["StructuredOutputInvalid", "OutputLimitReached", "PROVIDER_EMPTY_OUTPUT"],
  },
  inputMediaTypes: ["text/plain"],
  outputKind: "structured",
  outputMediaType: "application/json",
  intentExamples: [
    "Extract name and date from a sentence as JSON",
    "Generate three product ideas as a JSON object",
    "Fill this JSON Schema from a description",
  ],
  synonyms: ["json", "json schema", "structured output", "object", "extract", "fields"],
  taskTags: ["structured-output", "json", "extraction", "generation"],
  trialEligible: true,
  readySummary: "One JSON object per run, held to your schema when you give one.",
  sync: { maxOutputTokens: 2048, seconds: 60 },
  durable: {
    defaultQueueSeconds: 7200,
    maxQueueSeconds: 7200,
    defaultExecutionSeconds: 120,
    maxExecutionSeconds: 600,
  },
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
  execute: {
    port: "text",
    // Without a schema the model must at least be able to promise an object.
    accepts: (input, model) => acceptsText({ ...input, responseFormat: "json_object" }, model),
    call: (input, options, model) =>
      toTextCall(
        { ...input, responseFormat: "json_object" },
        options,
        outputCap(input, model, OUTPUT_BUDGET),
        { type: "json_object" },
      ),
    result(result) {
      const { text, toolCalls } = requireAnswer(result);
      if (text.trim() === "" && toolCalls.length > 0) {
        throw new CapabilityFault("StructuredOutputInvalid", "The model called a tool instead of answering.");
      }
      return { typedOutput: parseObject(text), files: [] };
    },
    bounds: (input, model) => ({ outputTokens: outputCap(input, model, OUTPUT_BUDGET) }),
  },
});

/** The answer as a JSON object; nothing is repaired. The parser's own words are dropped, since they quote the answer. */
function parseObject(text: string): StructuredOutput {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CapabilityFault("StructuredOutputInvalid", "The model's answer is not JSON.");
  }
  const parsed = StructuredOutput.safeParse(value);
  if (!parsed.success) {
    throw new CapabilityFault("StructuredOutputInvalid", "The model's answer is JSON, but not an object.");
  }
  return parsed.data;
}
