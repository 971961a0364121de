import { TextInput, TextOutput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { acceptsText, outputCap, requireAnswer, toTextCall } from "./text/call";

/** Tokens a durable run may answer when the caller gives no hint. */
const OUTPUT_BUDGET = 8_192;
const CONTEXT_TOKENS = 128_000;

export default defineCapability({
  key: "text.general.fast.v1",
  title: "Fast general text",
  description:
    "Answers a conversation with text: questions, summaries, rewriting, classification. Made for short, quick answers; longer ones run as durable jobs.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "invoke_stream", "job_async"],
  input: TextInput,
  output: TextOutput,
  inputConstraints: {
    messages: { measurement: "tokens", max: CONTEXT_TOKENS, overflow: "reject", semantic: true },
  },
  features: {
    syncInvoke: { supported: true, maxOutputTokens: 2048, targetMaxDurationSeconds: 60 },
    streamInvoke: { supported: true, maxOutputTokens: 2048, targetMaxDurationSeconds: 60 },
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
    providerBacked: true,
    modelBacked: true,
    deterministic: false,
    executionClass: "provider",
  },
  inputMediaTypes: ["text/plain"],
  outputKind: "text",
  outputMediaType: "text/plain",
  intentExamples: [
    "Summarise this e-mail in two sentences",
    "Answer a short question",
    "Rewrite a paragraph in a friendlier tone",
    "Classify a support ticket",
  ],
  synonyms: ["chat", "completion", "llm", "answer", "summarize", "summarise", "rewrite", "prompt"],
  taskTags: ["chat", "summarization", "rewriting", "classification", "question-answering"],
  trialEligible: true,
  readySummary: "Short text answers now, longer ones as durable jobs.",
  sync: { maxOutputTokens: 2048, seconds: 60 },
  durable: {
    defaultQueueSeconds: 7200,
    maxQueueSeconds: 7200,
    defaultExecutionSeconds: 120,
    maxExecutionSeconds: 600,
  },
  examples: [
    {
      title: "A question",
      input: { messages: [{ role: "user", content: "Why is the sky blue? One sentence." }] },
    },
    {
      title: "A rewrite with instructions and a cap",
      input: {
        messages: [
          { role: "system", content: "You rewrite text in plain English." },
          { role: "user", content: "The aforementioned shall henceforth be deemed void." },
        ],
        maxOutputTokens: 200,
      },
    },
  ],
  execute: {
    port: "text",
    accepts: acceptsText,
    call: (input, options, model) =>
      toTextCall(input, options, outputCap(input, model, OUTPUT_BUDGET), { type: "text" }),
    result(result) {
      const { text, toolCalls } = requireAnswer(result);
      return {
        typedOutput: { content: text, role: "assistant", ...(toolCalls.length > 0 ? { toolCalls } : {}) },
        files: [],
      };
    },
    bounds: (input, model) => ({ outputTokens: outputCap(input, model, OUTPUT_BUDGET) }),
  },
});
