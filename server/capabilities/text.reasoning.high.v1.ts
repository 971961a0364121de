import { TextInput, TextOutput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toWords } from "./text/execute";
import { durable, inTokens, LONG_SYNC, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 400_000;
const limits = { sync: LONG_SYNC, durable: durable(600) };

export default defineCapability({
  key: "text.reasoning.high.v1",
  title: "High reasoning",
  description:
    "Answers questions that have to be thought through: analysis, planning, mathematics, code, decisions with several conditions. Uses models that reason before they write. Their reasoning counts as output tokens.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "invoke_stream", "job_async"],
  input: TextInput,
  output: TextOutput,
  inputConstraints: { messages: inTokens(CONTEXT_TOKENS) },
  features: textFeatures(limits, CONTEXT_TOKENS, { streams: true, longContext: true }),
  inputMediaTypes: ["text/plain"],
  outputKind: "text",
  outputMediaType: "text/plain",
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
  trialEligible: true,
  readySummary: "Answers that are thought through, now or as durable jobs.",
  ...limits,
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
  execute: toWords({ budget: 16_384, only: ["reasoning", "frontier"], prefer: ["reasoning", "frontier"] }),
});
