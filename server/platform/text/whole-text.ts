/*
 * Makes text that every store and every client accepts: without halves of surrogate pairs, and without U+0000, which requests may
 * not contain either. Each becomes U+FFFD, as bytes do that are not UTF-8.
 */

export const wholeText = (text: string): string =>
  isWholeText(text) ? text : text.toWellFormed().replaceAll("\0", "\ufffd");

const isWholeText = (text: string) => text.isWellFormed() && !text.includes("\0");

/** Deeper values are left unchanged, for `formFlaw` to report. */
const MOST_LEVELS = 500;

/** Applies `wholeText` to all texts of a JSON value; returns the value itself if nothing changes. */
export function wholeValue<T>(value: T): T {
  return isWhole(value, 0) ? value : (mended(value, 0) as T); // keeps the form of the value
}

/** True for nearly every value, and then nothing is copied. */
function isWhole(value: unknown, level: number): boolean {
  if (typeof value === "string") return isWholeText(value);
  if (typeof value !== "object" || value === null || level > MOST_LEVELS) return true;
  if (Array.isArray(value)) return value.every((item) => isWhole(item, level + 1));
  const members = value as Record<string, unknown>; // not an array, which was handled above
  return Object.keys(members).every((name) => isWholeText(name) && isWhole(members[name], level + 1));
}

function mended(value: unknown, level: number): unknown {
  if (typeof value === "string") return wholeText(value);
  if (typeof value !== "object" || value === null || level > MOST_LEVELS) return value;
  if (Array.isArray(value)) return value.map((item) => mended(item, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [wholeText(name), mended(member, level + 1)]),
  );
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
