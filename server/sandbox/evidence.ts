import { z } from "zod";
import { parseJson } from "./ports/define";
import { topicOf } from "./topic";

/* Finds evidence in a document: the line that shares the most words with the question. */

const Task = z.object({
  task: z.literal("find_evidence"),
  fields: z.array(z.object({ name: z.string(), question: z.string() })),
  pages: z.array(z.string()),
});
type DocumentTask = z.output<typeof Task>;

/** Reads the task from a question; null for any other question. */
export function readDocumentTask(question: string): DocumentTask | null {
  const parsed = Task.safeParse(parseJson(question));
  return parsed.success ? parsed.data : null;
}

export function evidenceFor({ fields, pages }: DocumentTask) {
  const lines = pages.flatMap((page) => page.split(/\n+/)).map((line) => line.trim());
  return fields.map(({ name, question }) => {
    const words = topicOf(question).map((word) => word.toLowerCase());
    const score = (line: string) => words.filter((word) => line.toLowerCase().includes(word)).length;
    const best = lines.reduce((a, b) => (score(b) > score(a) ? b : a), "");
    if (score(best) === 0) return { name, value: null, quote: null, confidence: 0 };
    const value = best.includes(":") ? best.slice(best.indexOf(":") + 1).trim() : best;
    return { name, value, quote: best, confidence: 0.9 };
  });
}
