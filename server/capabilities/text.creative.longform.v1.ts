import { durable } from "./define";
import { defineWords } from "./text/conversation";

export default defineWords({
  key: "text.creative.longform.v1",
  title: "Long creative text",
  description:
    "Writes long pieces: stories, chapters, essays, scripts, speeches. Runs as a durable job, and a reader may follow it paragraph by paragraph.",
  modes: ["job_async"],
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
  readySummary: "Long texts as durable jobs.",
  durable: durable(600),
  contextTokens: 128_000,
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
  answer: { budget: 32_768, only: ["longform"], prefer: ["longform"] },
});
