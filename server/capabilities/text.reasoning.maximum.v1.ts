import { TextInput, TextOutput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toWords } from "./text/execute";
import { durable, inTokens, LONG_SYNC, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 1_050_000;
const limits = { sync: LONG_SYNC, durable: durable(600) };

export default defineCapability({
  key: "text.reasoning.maximum.v1",
  title: "Maximum reasoning",
  description:
    "The strongest available models, over as much text as they can read: whole code bases, contracts, archives. A request that does not fit is rejected, never silently cut off.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "invoke_stream", "job_async"],
  input: TextInput,
  output: TextOutput,
  inputConstraints: { messages: inTokens(CONTEXT_TOKENS) },
  features: textFeatures(limits, CONTEXT_TOKENS, {
    streams: true,
    longContext: true,
    recommendedMaxInputTokens: 900_000,
  }),
  inputMediaTypes: ["text/plain"],
  outputKind: "text",
  outputMediaType: "text/plain",
  intentExamples: [
    "Read this whole code base and find the race condition",
    "Compare two hundred pages of contracts in every detail",
    "Solve a research-level mathematics problem",
  ],
  synonyms: [
    "frontier",
    "deep reasoning",
    "long context",
    "million tokens",
    "hardest",
    "expert",
    "research",
    "most capable",
    "best model",
    "strongest model",
    "whole archive",
    "whole repository",
    "regardless of cost",
  ],
  taskTags: ["reasoning", "long-context", "research", "analysis"],
  trialEligible: true,
  readySummary: "The strongest reasoning, over up to a million tokens of text.",
  ...limits,
  examples: [
    {
      title: "A hard question over long material",
      input: {
        messages: [
          { role: "system", content: "You review contracts. Quote the clause for each statement." },
          { role: "user", content: "Which obligations outlive the termination of this agreement?" },
        ],
        maxOutputTokens: 4_000,
      },
    },
  ],
  execute: toWords({
    budget: 32_768,
    only: ["frontier"],
    prefer: ["frontier"],
    contextTokens: CONTEXT_TOKENS,
  }),
});
