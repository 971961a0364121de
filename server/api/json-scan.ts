import { ValidationFault } from "@/server/platform/errors/errors";

export const MAX_JSON_DEPTH = 64;
export const MAX_NODES = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** The longest key that is quoted in an error. */
const MOST_KEY_SHOWN = 200;

/** A literal this short cannot reach 2^53 without an exponent. */
const ALWAYS_SAFE_LENGTH = 15;

/**
 * One pass over a JSON text before it is parsed. Refuses anything that parsers, databases or hashes could read in two
 * ways: duplicate keys, `__proto__`, NUL, lone surrogates, numbers that are not finite, integers beyond ±(2^53 − 1),
 * and values nested deeper than 64 or more than 100,000 values. Does not check syntax; JSON.parse does, afterwards.
 * Returns the number of names of the object that has the most.
 */
export function refuseHostileJson(text: string): number {
  const end = text.length;
  // Per open container: the keys seen so far of an object, null for an array.
  const open: (Set<string> | null)[] = [];
  let keys: Set<string> | null = null;
  let isKeyNext = false;
  let nodes = 0;
  let mostNames = 0;

  for (let at = 0; at < end; at++) {
    const char = text.charCodeAt(at);
    switch (char) {
      case QUOTE: {
        const start = at + 1;
        // A manual loop: V8 hoists indexOf out of its branch and then searches the rest of the text at every character.
        let close = start;
        while (close < end && text.charCodeAt(close) !== QUOTE && text.charCodeAt(close) !== BACKSLASH)
          close++;
        const escaped = close < end && text.charCodeAt(close) === BACKSLASH;
        if (escaped) close = endOfEscapedString(text, close);
        if (close === -1 || close === end) return mostNames; // never closed: JSON.parse reports it
        if (isKeyNext && keys !== null) {
          const key = escaped ? decoded(text.slice(at, close + 1)) : text.slice(start, close);
          if (key === "__proto__") refuse("The key __proto__ is not allowed.", "forbidden_key");
          if (keys.has(key))
            refuse("An object has the same key twice.", "duplicate_key", {
              key: key.slice(0, MOST_KEY_SHOWN),
            });
          keys.add(key);
          isKeyNext = false;
        } else nodes++;
        at = close;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        nodes++;
        keys = char === OPEN_OBJECT ? new Set() : null;
        isKeyNext = keys !== null;
        open.push(keys);
        if (open.length > MAX_JSON_DEPTH) {
          refuse(`The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`, "too_deep", {
            maxDepth: MAX_JSON_DEPTH,
          });
        }
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        if (keys !== null && keys.size > mostNames) mostNames = keys.size;
        open.pop();
        keys = open.length > 0 ? open[open.length - 1]! : null;
        isKeyNext = false;
        break;
      case COMMA:
        isKeyNext = keys !== null;
        break;
      default:
        if ((char >= ZERO && char <= NINE) || char === MINUS) {
          nodes++;
          at = checkedNumber(text, at) - 1;
        } else if (char >= 0x61 && char <= 0x7a) {
          // true, false, null, or invalid text that JSON.parse reports
          nodes++;
          while (at + 1 < end && text.charCodeAt(at + 1) >= 0x61 && text.charCodeAt(at + 1) <= 0x7a) at++;
        }
    }
    if (nodes > MAX_NODES) {
      refuse(`The JSON has more than ${MAX_NODES} values.`, "too_many_values", { maxValues: MAX_NODES });
    }
  }
  return mostNames;
}

/**
 * The position of the closing quote, or -1 if there is none. The scan begins at the string's first backslash or before
 * it, and refuses escapes of NUL and of lone surrogates.
 */
function endOfEscapedString(text: string, firstEscape: number): number {
  const end = text.length;
  // Set after the escape of a high surrogate: the very next thing must be the escape of a low one.
  let lowExpectedAt = -1;
  for (let at = firstEscape; at < end; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      if (lowExpectedAt !== -1) loneSurrogate();
      return at;
    }
    if (char !== BACKSLASH) {
      if (lowExpectedAt !== -1) loneSurrogate();
      continue;
    }
    if (text.charCodeAt(at + 1) !== 0x75) {
      if (lowExpectedAt !== -1) loneSurrogate();
      at++; // the escaped character, perhaps a quote
      continue;
    }
    const code = Number.parseInt(text.slice(at + 2, at + 6), 16);
    if (code === 0) refuse("The character U+0000 is not allowed.", "nul_character");
    const isLow = code >= 0xdc00 && code <= 0xdfff;
    if (isLow !== (lowExpectedAt === at)) loneSurrogate();
    lowExpectedAt = code >= 0xd800 && code <= 0xdbff ? at + 6 : -1;
    at += 5;
  }
  return -1;
}

function loneSurrogate(): never {
  refuse("A text contains half of a surrogate pair, which is not a character.", "lone_surrogate");
}

/**
 * The position after the number that starts here. Refuses a number too large for a double, and an integer beyond ±(2^53
 * − 1).
 */
function checkedNumber(text: string, start: number): number {
  let at = start + 1;
  let isShort = true;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    const isPart =
      (char >= ZERO && char <= NINE) ||
      char === 0x2e ||
      char === 0x2b ||
      char === MINUS ||
      (char | 0x20) === 0x65;
    if (!isPart) break;
    if ((char | 0x20) === 0x65) isShort = false;
    at++;
  }
  if (isShort && at - start <= ALWAYS_SAFE_LENGTH) return at;
  const literal = text.slice(start, at);
  const value = Number(literal);
  if (Number.isNaN(value)) return at; // not a number at all: JSON.parse reports it
  if (!Number.isFinite(value))
    refuse("A number is too large.", "number_not_finite", undefined, placeOf(text, start));
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const msg = "An integer is beyond ±(2^53 − 1). Send it as a string.";
    refuse(msg, "number_unsafe", undefined, placeOf(text, start));
  }
  return at;
}

/**
 * The path of keys and indexes to the value that begins at `end`, in a text that was scanned up to there. A separate pass,
 * made only for an error.
 */
function placeOf(text: string, end: number): (string | number)[] {
  const open: { name: string | number; isKeyNext: boolean }[] = [];
  for (let at = 0; at < end; at++) {
    const last = open.at(-1);
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const close = endOfEscapedString(text, at + 1);
        if (last?.isKeyNext) {
          last.name = decoded(text.slice(at, close + 1)).slice(0, MOST_KEY_SHOWN);
          last.isKeyNext = false;
        }
        at = close;
        break;
      }
      case OPEN_OBJECT:
        open.push({ name: "", isKeyNext: true });
        break;
      case OPEN_ARRAY:
        open.push({ name: 0, isKeyNext: false });
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop();
        break;
      case COMMA:
        if (typeof last?.name === "number") last.name++;
        else if (last) last.isKeyNext = true;
    }
  }
  return open.map(({ name }) => name);
}

function decoded(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal; // a bad escape: JSON.parse of the whole text reports it
  }
}

function refuse(
  msg: string,
  type: string,
  ctx?: Record<string, string | number>,
  place: (string | number)[] = [],
): never {
  throw new ValidationFault([{ loc: ["body", ...place], msg, type, ...(ctx ? { ctx } : {}) }]);
}
