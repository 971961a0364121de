import { defineWords } from "./text/conversation";
import { LONG_TEXT } from "./text/kinds";

export default defineWords({
  key: "text.reasoning.maximum.v1",
  title: "Maximum reasoning",
  description:
    "The strongest available models, over as much text as they can read: whole code bases, contracts, archives. A request that does not fit is rejected, never silently cut off.",
  modes: ["invoke_sync", "invoke_stream", "job_async"],
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
  readySummary: "The strongest reasoning, over up to a million tokens of text.",
  ...LONG_TEXT,
  contextTokens: 1_050_000,
  features: { longContext: true, recommendedMaxInputTokens: 900_000 },
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
  answer: {
    budget: 32_768,
    only: ["frontier"],
    prefer: ["frontier"],
    contextTokens: 1_050_000,
  },
});
