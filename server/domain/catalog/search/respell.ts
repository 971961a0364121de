import { allCapabilities } from "../registry";
import { NEIGHBOURS } from "./neighbours";
import { conceptWords, normalize, searchWords, stopWords } from "./words";

/** Shorter words are too similar to each other to guess. */
const SHORTEST = 5;
/** "Prose" is not a mistyped "prove", nor "court" a mistyped "count". */
const SHORTEST_WITH_ANOTHER_LETTER = 7;

let known: Set<string> | undefined;

/** Returns every word that the search knows, as it is written. */
function knownWords(): Set<string> {
  known ??= new Set([
    ...conceptWords,
    ...NEIGHBOURS.flatMap(({ words }) => searchWords(words)),
    ...allCapabilities.flatMap((capability) =>
      searchWords(
        [
          capability.title,
          capability.description,
          ...capability.synonyms,
          ...capability.taskTags,
          ...capability.intentExamples,
        ].join(" "),
      ),
    ),
  ]);
  return known;
}

/**
 * Corrects words that are one slip away from a known word: one letter more, less or different, or two neighbours
 * exchanged.
 */
export function respell(text: string): string {
  const words = knownWords();
  return normalize(text)
    .trim()
    .split(" ")
    .map((word) => {
      if (word.length < SHORTEST || words.has(word) || stopWords.has(word) || isInflected(word, words))
        return word;
      for (const candidate of words) if (isOneSlip(word, candidate)) return candidate;
      return word;
    })
    .join(" ");
}

/** True if a word is a known word with an ending, which the stemmer handles. */
const isInflected = (word: string, words: Set<string>) =>
  ["s", "es", "d", "ed", "ing", "er", "ly"].some((ending) => {
    if (!word.endsWith(ending)) return false;
    const base = word.slice(0, -ending.length);
    return words.has(base) || words.has(`${base}e`);
  });

/**
 * True if two words differ by one letter more, less or different, or by two exchanged neighbours. The first
 * letter must be the same, since it is seldom wrong.
 */
function isOneSlip(a: string, b: string): boolean {
  if (b.length < SHORTEST || a[0] !== b[0] || Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const rest = (text: string, from: number) => text.slice(from);
  return (
    rest(a, at + 1) === rest(b, at) ||
    rest(a, at) === rest(b, at + 1) ||
    (a.length >= SHORTEST_WITH_ANOTHER_LETTER && rest(a, at + 1) === rest(b, at + 1)) ||
    (a[at] === b[at + 1] && a[at + 1] === b[at] && rest(a, at + 2) === rest(b, at + 2))
  );
}
