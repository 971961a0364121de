/** Offsets in UTF-16 units within the page's text; `end` is exclusive. Pages count from 1. */
export type PageSpan = { page: number; start: number; end: number };

/** A text in its form for comparison. For each unit of `plain`, `starts` and `ends` give its range in the original. */
type Folded = { plain: string; starts: number[]; ends: number[] };

/**
 * Finds quotes in pages. Differences in white space, ligatures, quotation marks, dashes and soft hyphens are ignored, and
 * so are the encoding of accents (one character or a combining mark) and the hyphen of a word broken at the end of a
 * line. A match must not begin or end inside a number: `18.40` is not found in `118.40`.
 */
export function finderIn(pages: string[]): (quote: string) => PageSpan | null {
  const asWritten = pages.map((page) => fold(page, false));
  let joined: Folded[] | undefined;
  return (quote) => {
    const found = placeIn(asWritten, fold(quote.trim(), false).plain);
    if (found) return found;
    joined ??= pages.map((page) => fold(page, true));
    return placeIn(joined, fold(quote.trim(), true).plain);
  };
}

function placeIn(pages: Folded[], wanted: string): PageSpan | null {
  if (wanted === "") return null;
  for (const [index, { plain, starts, ends }] of pages.entries()) {
    for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + 1)) {
      const [start, end] = [starts[at], ends[at + wanted.length - 1]];
      if (start === undefined || end === undefined) break;
      if (!isInside(plain, at) && !isInside(plain, at + wanted.length))
        return { page: index + 1, start, end };
    }
  }
  return null;
}

/** Is this position inside a number, or before a combining accent? */
function isInside(plain: string, at: number): boolean {
  const before = /\d[.,']?$/.exec(plain.slice(Math.max(0, at - 2), at))?.[0];
  const after = /^(?:[.,']?\d|\p{M})/u.exec(plain.slice(at, at + 2))?.[0];
  if (after && /^\p{M}/u.test(after)) return true;
  return before !== undefined && after !== undefined && before.length + after.length < 4;
}

const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/;
const SAME_MARKS: [RegExp, string][] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/, '"'],
  [/[\u2010-\u2015\u2212]/, "-"],
];
const LIGATURE = /[\ufb00-\ufb06]/;

function fold(text: string, joinsHyphens: boolean): Folded {
  // A soft hyphen only marks a break; a hard one may also be part of the word.
  const breaks = joinsHyphens
    ? /(?:\u00ad|(?<=\p{L})[-\u2010](?=\s*\n\s*\p{Ll}))\s*\n\s*/uy
    : /\u00ad\s*\n\s*/uy;
  const pieces: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let isAfterSpace = false;
  for (let at = 0; at < text.length; ) {
    breaks.lastIndex = at;
    const skipped = breaks.exec(text)?.[0];
    if (skipped) {
      at += skipped.length;
      continue;
    }
    const sign = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const isSpace = /\s/.test(sign) && !INVISIBLE.test(sign);
    const plain = isSpace ? (isAfterSpace ? "" : " ") : plainOf(sign);
    for (const unit of plain.split("")) {
      pieces.push(unit);
      starts.push(at);
      ends.push(at + sign.length);
    }
    at += sign.length;
    if (isSpace || plain !== "") isAfterSpace = isSpace;
  }
  return { plain: pieces.join(""), starts, ends };
}

function plainOf(sign: string): string {
  if (sign < "\u0080") return sign;
  if (INVISIBLE.test(sign)) return "";
  const mark = SAME_MARKS.find(([marks]) => marks.test(sign));
  if (mark) return mark[1];
  return LIGATURE.test(sign) ? sign.normalize("NFKD") : sign.normalize("NFD");
}
