/** The most characters to hold back before cutting inside a paragraph. */
const HOLD_LIMIT = 600;
/** The same limit if no sentence ends. */
const FAR_LIMIT = 4 * HOLD_LIMIT;

const PARAGRAPH = /^\s*\S[\s\S]*?\n[^\S\n]*\n\s*(?=\S)/;
const SENTENCE = /[.!?…。！？]["'”’»)\]]*\s+(?=\S)/g;
const SPACE = /\s+(?=\S)/g;

/**
 * Cuts a text that arrives in pieces into spans to show to a reader: whole paragraphs with the blank line
 * that closes them, and whole sentences of a paragraph longer than the limit, or whole words if no sentence
 * ends. The spans and the rest together are the text, and the cuts do not depend on the pieces.
 */
export function paragraphs(): { push(text: string): string[]; rest(): string } {
  let held = "";
  return {
    push(text) {
      held += text;
      const spans: string[] = [];
      for (let end = endOfSpan(held); end > 0; end = endOfSpan(held)) {
        spans.push(held.slice(0, end));
        held = held.slice(end);
      }
      return spans;
    },
    rest() {
      const rest = held;
      held = "";
      return rest;
    },
  };
}

/** The end of the first span; 0 if not yet known. */
function endOfSpan(whole: string): number {
  const text = whole.slice(0, 2 * FAR_LIMIT); // this much text is enough to decide
  const match = PARAGRAPH.exec(text);
  const paragraph = match ? match.index + match[0].length : 0;
  if (paragraph > 0 && paragraph <= HOLD_LIMIT) return paragraph;
  if (text.length <= HOLD_LIMIT) return 0;
  const sentences = endsIn(text, SENTENCE);
  const within = sentences.findLast((end) => end <= HOLD_LIMIT);
  if (within) return within;
  const next = [paragraph, sentences[0] ?? 0].filter((end) => end > 0 && end <= FAR_LIMIT);
  if (next.length > 0) return Math.min(...next);
  if (text.length <= FAR_LIMIT) return 0;
  const word = endsIn(text, SPACE).findLast((end) => end <= FAR_LIMIT);
  if (word) return word;
  // A cut never separates the two halves of a surrogate pair.
  return /[\uD800-\uDBFF]/.test(text[FAR_LIMIT - 1] ?? "") ? FAR_LIMIT - 1 : FAR_LIMIT;
}

const endsIn = (text: string, ends: RegExp) =>
  [...text.matchAll(ends)].map((match) => match.index + match[0].length);
