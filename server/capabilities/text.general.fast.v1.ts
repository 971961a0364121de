import { defineWords } from "./text/conversation";
import { SHORT_TEXT } from "./text/kinds";

export default defineWords({
  key: "text.general.fast.v1",
  title: "Fast general text",
  description:
    "Answers a conversation with text: questions, summaries, rewriting, classification. Made for short, quick answers; longer ones run as durable jobs.",
  modes: ["invoke_sync", "invoke_stream", "job_async"],
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
  readySummary: "Short text answers now, longer ones as durable jobs.",
  ...SHORT_TEXT,
  contextTokens: 128_000,
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
  answer: { budget: 8_192, prefer: ["fast"] },
});
