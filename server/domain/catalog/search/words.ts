import { stemmer } from "stemmer";
import { CONCEPTS } from "./concepts";
import { NEIGHBOURS } from "./neighbours";

/** Words that tell nothing about a task, in English, and the commonest in German, French, Spanish and Italian. */
const STOP = new Set(
  `a an the this that these those of in on at by for from with to into onto about as is are was were be been being am do does
  did can could would should will shall may might must i me my mine we us our you your he she it its they them their his her
  and or but not no if then than so such which who whom whose what where when why how there here have has had get got give
  please want need like just some any all each every one two three ten still also very more most much many out up off over
  between per own same other another thing things something make using use via way help let
  der die das ein eine einen einem einer und oder ist sind im in den dem des mit von zu fur auf noch mir mich bitte
  le la les un une des du de d l et ou est sont en ce cet cette pour dans avec mon ma mes
  el los las unos unas y o es son por para con del al mi mis su
  il lo gli uno e di da per con che`
    .split(/\s+/)
    .filter(Boolean),
);

/**
 * Returns the text in lower case and without accents, its words separated by single spaces, with a space before and
 * after.
 */
export function normalize(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/ß/g, "ss");
  return ` ${plain
    .replace(/[’'`]/g, " ")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(" ")} `;
}

/** Returns the words of a text that may tell its subject, as they are written. */
export const searchWords = (text: string): string[] =>
  normalize(text)
    .split(" ")
    .filter((word) => word !== "" && !STOP.has(word));

/** The concepts by the stem of a single word, and by phrase. */
const ofStem = new Map<string, string[]>();
const ofPhrase: [phrase: string, concept: string][] = [];
for (const [concept, list] of Object.entries(CONCEPTS)) {
  for (const term of list.split(",").map((each) => normalize(each))) {
    const stem = stemmer(term.trim());
    if (term.trim().includes(" ")) ofPhrase.push([term, `~${concept}`]);
    // "price" and "prices" have one stem, so the concept counts once.
    else ofStem.set(stem, [...new Set([...(ofStem.get(stem) ?? []), `~${concept}`])]);
  }
}
for (const { name, words } of NEIGHBOURS)
  for (const phrase of words.split(",").map((each) => normalize(each)))
    if (phrase.trim().includes(" ")) ofPhrase.push([phrase, `~beside ${name}`]);

/** Returns the terms that are indexed and searched: the stems of the words, and the concepts of words and phrases. */
export function termsOf(text: string): string[] {
  const plain = normalize(text);
  const phrases = ofPhrase.filter(([phrase]) => plain.includes(phrase)).map(([, concept]) => concept);
  return [...searchWords(text).flatMap(termsOfWord), ...phrases];
}

const termsOfWord = (word: string): string[] => {
  const stem = stemmer(word);
  return [stem, ...(ofStem.get(stem) ?? [])];
};

/** Every single word of the concepts, for correcting mistyped words. */
export const conceptWords: readonly string[] = Object.values(CONCEPTS).flatMap((list) =>
  list.split(",").flatMap((term) => searchWords(term)),
);
export { STOP as stopWords };
