/** The last digit of an amount in micros, else of the first number after a colon: the digit that a forger would change. */
const AMOUNT = /"\w*Micros": \d*(\d)/;
const ANY = /: -?\d*(\d)/;

/** A document's text with one digit changed; unchanged if it has none. */
export function firstForgery(text: string): string {
  const found = AMOUNT.exec(text) ?? ANY.exec(text);
  if (!found) return text;
  const at = found.index + found[0].length - 1;
  return `${text.slice(0, at)}${(Number(found[1]) + 1) % 10}${text.slice(at + 1)}`;
}

const MOST_LINES = 5;

/** The first five lines that differ, counted from 1. If the number of lines differs, only the first one. */
export function linesChanged(was: string, is: string): { number: number; was: string; is: string }[] {
  const [before, after] = [was.split("\n"), is.split("\n")];
  const differs = (at: number) => before[at] !== after[at];
  const all = Array.from({ length: Math.max(before.length, after.length) }, (_, at) => at).filter(differs);
  // After a line that is added or removed, every following one has moved.
  return all.slice(0, before.length === after.length ? MOST_LINES : 1).map((at) => ({
    number: at + 1,
    was: before[at] ?? "",
    is: after[at] ?? "",
  }));
}
