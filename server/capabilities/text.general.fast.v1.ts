import { TextInput, TextOutput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toWords } from "./text/execute";
import { durable, inTokens, SHORT_SYNC, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 128_000;
const limits = { sync: SHORT_SYNC, durable: durable(120) };

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
  inputConstraints: { messages: inTokens(CONTEXT_TOKENS) },
  features: textFeatures(limits, CONTEXT_TOKENS, { streams: true }),
  inputMediaTypes: ["text/plain"],
  outputKind: "text",
  outputMediaType: "text/plain",
  intentExamples: [
    "Summarise this e-mail in two sentences",
    "Answer a short question",
    "Rewrite a paragraph in a friendlier tone",
    "Classify a support ticket",
  ],
  synonyms: [
    "chat",
    "completion",
    "llm",
    "answer",
    "summarize",
    "summarise",
    "rewrite",
    "rephrase",
    "paragraph",
    "friendlier",
    "tone",
    "proofread",
    "prompt",
    "classify",
    "sentiment",
    "question",
    "grammar",
    "explain",
    "what is a",
  ],
  taskTags: ["chat", "summarization", "rewriting", "classification", "question-answering"],
  trialEligible: true,
  readySummary: "Short text answers now, longer ones as durable jobs.",
  ...limits,
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
  execute: toWords({ budget: 8_192, prefer: ["fast"] }),
});
