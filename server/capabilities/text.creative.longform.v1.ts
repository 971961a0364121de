import { TextInput, TextOutput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { toWords } from "./text/execute";
import { durable, inTokens, textFeatures } from "./text/kinds";

const CONTEXT_TOKENS = 128_000;
const limits = { durable: durable(600) };

export default defineCapability({
  key: "text.creative.longform.v1",
  title: "Long creative text",
  description:
    "Writes long pieces: stories, chapters, essays, scripts, speeches. Runs as a durable job, and a reader may follow it paragraph by paragraph.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["job_async"],
  input: TextInput,
  output: TextOutput,
  inputConstraints: { messages: inTokens(CONTEXT_TOKENS) },
  features: textFeatures(limits, CONTEXT_TOKENS),
  inputMediaTypes: ["text/plain"],
  outputKind: "text",
  outputMediaType: "text/plain",
  intentExamples: [
    "Write a short story about a lighthouse keeper",
    "Draft the first chapter of a novel",
    "Write a ten-minute speech for a wedding",
    "Write a blog article of two thousand words",
  ],
  synonyms: [
    "story",
    "novel",
    "essay",
    "article",
    "blog post",
    "script",
    "creative writing",
    "fiction",
    "chapter",
    "screenplay",
    "tale",
    "poem",
  ],
  taskTags: ["creative-writing", "long-form", "storytelling"],
  trialEligible: true,
  readySummary: "Long texts as durable jobs.",
  ...limits,
  examples: [
    {
      title: "A story",
      input: {
        messages: [
          { role: "user", content: "Write a story in 12 paragraphs about a clock that runs backwards." },
        ],
      },
    },
  ],
  execute: toWords({ budget: 32_768, only: ["longform"], prefer: ["longform"] }),
});
