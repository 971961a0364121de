/*
 * Makes text that every store and every client accepts: without halves of surrogate pairs, and without U+0000, which requests may
 * not contain either. Each becomes U+FFFD, as bytes do that are not UTF-8.
 */

export const wholeText = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** Deeper values are left unchanged, for `formFlaw` to report. */
const MOST_LEVELS = 500;

/** Applies `wholeText` to all texts of a JSON value; returns the value itself if nothing changes. */
export function wholeValue<T>(value: T, level = 0): T {
  return mended(value, level) as T; // keeps the form of the value
}

function mended(value: unknown, level: number): unknown {
  if (typeof value === "string") return wholeText(value);
  if (typeof value !== "object" || value === null || level > MOST_LEVELS) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mended(item, level + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const members = Object.entries(value);
  const others = members.map(([name, member]) => [wholeText(name), mended(member, level + 1)] as const);
  const isSame = others.every(
    ([name, member], index) => name === members[index]![0] && member === members[index]![1], // `members` is as long
  );
  return isSame ? value : Object.fromEntries(others);
}

/** `wholeText` for text in pieces: a half at the end of one waits for the other half. */
export function wholePieces(tell: (text: string) => void) {
  let half = "";
  return {
    push(text: string): void {
      const all = half + text;
      half = /[\ud800-\udbff]$/.exec(all)?.[0] ?? "";
      const whole = wholeText(half === "" ? all : all.slice(0, -1));
      if (whole !== "") tell(whole);
    },
    end(): void {
      if (half !== "") tell("\ufffd");
      half = "";
    },
  };
}
