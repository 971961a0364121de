/*
 * Reads long words for the tokenizer. The pattern of o200k_base looks at a word up to three times and blocks the thread
 * meanwhile, so a word of a megabyte is read in stretches, with turns between them, by the pattern's rules for letters.
 */

/** Characters of a word that are read between two turns. */
const STRETCH = 4_096;

/**
 * The pattern's two kinds of letters: those that may begin a piece, and those that may end one. Marks and caseless letters are
 * both.
 */
const [HEAD, TAIL] = ["\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}", "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"];
const SUFFIX = /(?:'s|'S|'t|'T|'re|'rE|'Re|'RE|'ve|'vE|'Ve|'VE|'m|'M|'ll|'lL|'Ll|'LL|'d|'D)?/y;

/** Returns a reader of words with more than `stretch` letters. */
export function openLongWords(stretch = STRETCH) {
  const long = new RegExp(`[^\\r\\n\\p{L}\\p{M}\\p{N}]?(?=\\p{L}[\\p{L}\\p{M}]{${stretch}})`, "uy");
  const heads = new RegExp(`[${HEAD}]{1,${stretch}}`, "uy");
  const tails = new RegExp(`[${TAIL}]{1,${stretch}}`, "uy");
  const tail = new RegExp(`[${TAIL}]`, "gu");

  function* run(
    text: string,
    from: number,
    of: RegExp,
    each: (at: number, end: number) => void = () => {},
  ): Generator<undefined, number> {
    let at = from;
    for (of.lastIndex = at; of.test(text); of.lastIndex = at) {
      const end = of.lastIndex;
      each(at, end);
      at = end;
      yield;
    }
    return at;
  }

  /**
   * Finds the end of the long word at `at`; null if none begins there. Like the pattern, takes heads and then tails. If no tail
   * follows the heads, the word ends at the last head that is also a tail, or else after all heads. A contraction such as 's is
   * included.
   */
  return function* endOfWord(text: string, at: number): Generator<undefined, number | null> {
    long.lastIndex = at;
    if (!long.test(text)) return null;
    let lastTail = -1;
    const headsEnd = yield* run(text, long.lastIndex, heads, (from, end) => {
      for (const found of text.slice(from, end).matchAll(tail))
        lastTail = from + found.index + found[0].length;
    });
    const tailsEnd = yield* run(text, headsEnd, tails);
    SUFFIX.lastIndex = tailsEnd > headsEnd || lastTail < 0 ? tailsEnd : lastTail;
    SUFFIX.test(text);
    return SUFFIX.lastIndex;
  };
}
