import { defineWords } from "./text/conversation";
import { LONG_TEXT } from "./text/kinds";

export default defineWords({
  key: "text.reasoning.high.v1",
  title: "High reasoning",
  description:
    "Answers questions that have to be thought through: analysis, planning, mathematics, code, decisions with several conditions. Uses models that reason before they write. Their reasoning counts as output tokens.",
  modes: ["invoke_sync", "invoke_stream", "job_async"],
  intentExamples: [
    "Find the flaw in this argument",
    "Plan a migration step by step",
    "Prove that the sum of two odd numbers is even",
    "Explain why this program deadlocks",
  ],
  synonyms: [
    "reason",
    "think",
    "analyze",
    "analyse",
    "plan",
    "prove",
    "debug",
    "solve",
    "chain of thought",
    "logic",
    "puzzle",
    "algorithm",
    "root cause",
    "trade-offs",
    "derive",
  ],
  taskTags: ["reasoning", "analysis", "planning", "mathematics", "code"],
  readySummary: "Answers that are thought through, now or as durable jobs.",
  ...LONG_TEXT,
  contextTokens: 400_000,
  features: { longContext: true },
  examples: [
    {
      title: "A puzzle",
      input: {
        messages: [
          {
            role: "user",
            content:
              "Three switches, one lamp in the next room, one visit. How do you find the right switch?",
          },
        ],
      },
    },
  ],
  answer: { budget: 16_384, only: ["reasoning", "frontier"], prefer: ["reasoning", "frontier"] },
});
