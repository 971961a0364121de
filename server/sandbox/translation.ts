import { z } from "zod";
import { parseJson } from "./ports/define";

/* Translates by writing every word backwards, and keeps what must be kept. */

const Task = z.object({
  task: z.literal("translate"),
  targetLocale: z.string(),
  items: z.array(
    z.object({
      id: z.string(),
      text: z.string(),
      maxLength: z.int().optional(),
      placeholders: z.array(z.string()).default([]),
    }),
  ),
  glossary: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  preserveTerms: z.array(z.string()).default([]),
});
export type TranslationTask = z.output<typeof Task>;

/** Reads the task from a question; null for any other question. */
export function readTranslationTask(question: string): TranslationTask | null {
  const parsed = Task.safeParse(parseJson(question));
  return parsed.success ? parsed.data : null;
}

export function translate({ targetLocale, items, glossary, preserveTerms }: TranslationTask) {
  return items.map(({ id, text, maxLength, placeholders }) => {
    const kept = new Map<string, string>([...placeholders, ...preserveTerms].map((term) => [term, term]));
    for (const { source, target } of glossary) kept.set(source.toLowerCase(), target);
    const whole = `${pieces(text, [...kept.keys()])
      .map((piece) => kept.get(piece) ?? kept.get(piece.toLowerCase()) ?? backwards(piece))
      .join("")} (${targetLocale})`;
    const letters = [...whole];
    if (maxLength === undefined || letters.length <= maxLength) return { id, translation: whole };
    // Too long: only the terms that must be kept are returned or, if there are none, as much as fits.
    const must = pieces(text, [...kept.keys()]).flatMap(
      (piece) => kept.get(piece) ?? kept.get(piece.toLowerCase()) ?? [],
    );
    const short = must.length > 0 ? must.join(" ") : letters.slice(0, maxLength).join("");
    return { id, translation: short };
  });
}

const backwards = (text: string) =>
  text.replace(/[\p{L}\p{M}]+/gu, (word) => [...word].reverse().join("").toLowerCase());

/** Splits a text at every occurrence of a term, longer terms first; terms are pieces of their own. */
function pieces(text: string, terms: string[]): string[] {
  const sorted = terms.filter((term) => term !== "").sort((a, b) => b.length - a.length);
  if (sorted.length === 0) return [text];
  const escaped = sorted.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.split(new RegExp(`(${escaped.join("|")})`, "giu"));
}
