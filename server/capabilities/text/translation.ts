import { inTurns } from "@/server/platform/time/turn";
import { UnfitAnswer } from "../define";

type Asked = {
  items: { id: string; text: string; maxLength?: number | undefined; placeholders?: string[] | undefined }[];
  glossary?: { source: string; target: string }[] | undefined;
  preserveTerms?: string[] | undefined;
};
type Answered = { id: string; translation: string }[];
export type Flaw = { id: string; finding: string };

/** All requirements that the answer does not meet, including ids that were not requested. */
export const flawsOf = (asked: Asked, answered: Answered): Promise<Flaw[]> =>
  inTurns(lookedFor(asked, answered)); // in turns, since a hundred texts may be searched for a thousand terms

function* lookedFor(
  { items, glossary = [], preserveTerms = [] }: Asked,
  answered: Answered,
): Generator<undefined, Flaw[]> {
  const asked = new Set(items.map(({ id }) => id));
  const flaws: Flaw[] = answered
    .filter(({ id }) => !asked.has(id))
    .map(({ id }) => ({ id, finding: `${quote(id)} is no id that was asked for.` }));
  for (const item of items) {
    const mine = answered.filter(({ id }) => id === item.id);
    const [only] = mine;
    const tell = (what: string) => flaws.push({ id: item.id, finding: `Item ${quote(item.id)} ${what}` });
    if (!only) {
      tell("is missing.");
      continue;
    }
    if (mine.length > 1) tell(`is there ${mine.length} times; it must be there once.`);
    const { translation } = only;
    if (translation.trim() === "") tell("is empty.");
    const length = [...translation].length;
    if (item.maxLength !== undefined && length > item.maxLength)
      tell(`has ${length} characters; at most ${item.maxLength} are allowed.`);
    for (const kept of new Set([...(item.placeholders ?? []), ...preserveTerms])) {
      yield;
      // A placeholder must occur exactly as often as in the text; a term may occur more often.
      const isPlaceholder = item.placeholders?.includes(kept) ?? false;
      const count = isPlaceholder ? countOf : countOfWord;
      const wanted = count(item.text, kept);
      const found = count(translation, kept);
      if (isPlaceholder ? found !== wanted : found < wanted)
        tell(`must have ${quote(kept)} ${times(wanted)}, not ${times(found)}.`);
    }
    for (const { source, target } of glossary) {
      yield;
      if (
        countOfWord(item.text, source, "giu") > 0 &&
        !translation.toLowerCase().includes(target.toLowerCase())
      )
        tell(`must say ${quote(target)} for ${quote(source)}.`);
    }
  }
  return flaws;
}

/** Lists the affected ids for the caller too, at most 100: the caller's own, and those that only the answer has. */
export function toUnfit(flaws: Flaw[]): UnfitAnswer {
  const ids = [...new Set(flaws.map(({ id }) => id))];
  const named = ids.slice(0, 100);
  return new UnfitAnswer(
    `The translation of ${ids.length === 1 ? "one item" : `${ids.length} items`} did not meet the requirements; details.ids lists them.`,
    flaws.map(({ finding }) => finding),
    { ids: named },
    "StructuredOutputInvalid",
  );
}

const quote = (text: string) => JSON.stringify(text);
const times = (count: number) => (count === 1 ? "once" : `${count} times`);

const countOf = (text: string, part: string): number => text.split(part).length - 1;

/** Occurrences of a term as a separate word. */
function countOfWord(text: string, term: string, flags: "gu" | "giu" = "gu"): number {
  const escaped = term.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, flags))].length;
}
