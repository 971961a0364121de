import type { Json } from "@/server/platform/durable/step";

/** Matches characters that JSON must escape, and halves of surrogate pairs. A string without any needs only quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be found
const NOT_PLAIN = /[\u0000-\u001f"\\\ud800-\udfff]/;

/**
 * Returns the RFC 8785 text of a JSON value: equal for equal values, whatever the order of their keys. Undefined members are left
 * out, as by JSON.stringify. Throws TypeError for what JSON cannot express: numbers that are not finite, lone surrogates,
 * functions.
 */
export function canonicalText(value: Json): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is no JSON number`);
      return value === 0 ? "0" : String(value); // RFC 8785 requires ECMAScript's own form; -0 is 0
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? `[${value.map(canonicalText).join(",")}]` : objectText(value);
    default:
      throw new TypeError(`a ${typeof value} is no JSON value`);
  }
}

/** Deeper than any real answer, and shallow enough that no recursion over a value fails, here or in the database. */
const MOST_LEVELS = 500;

/**
 * The flaw that keeps a value from having a canonical form, or from being stored and read, in words that follow "contains"; null
 * if there is none. For foreign values, before anything is written.
 */
export function formFlaw(value: unknown, level = 0): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : "half of a character";
  if (typeof value === "number")
    return Number.isFinite(value) ? null : "a number beyond all that can be said";
  if (typeof value !== "object" || value === null) return null;
  if (level === MOST_LEVELS) return `more than ${MOST_LEVELS} values inside each other`;
  if (Array.isArray(value)) return firstFlaw(value, level);
  return firstFlaw(Object.keys(value), level) ?? firstFlaw(Object.values(value), level);
}

function firstFlaw(values: unknown[], level: number): string | null {
  for (const value of values) {
    const flaw = formFlaw(value, level + 1);
    if (flaw) return flaw;
  }
  return null;
}

/** The same flaw of a provider's answer, as a sentence; null if there is none. */
export function answerFlaw(answer: unknown): string | null {
  const flaw = formFlaw(answer);
  return flaw && `The provider's answer contains ${flaw}, so no record can be made of it.`;
}

function objectText(value: { [key: string]: Json }): string {
  let text = "";
  for (const key of sorted(Object.keys(value))) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${quotedKey(key)}:${canonicalText(member)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** Number of members of lists and objects after which other work may have its turn. */
const PIECE = 512;

/** True if a value contains so many others that its text is made in pieces. Counts no further than that. */
export const hasManyValues = (value: Json): boolean => roomLeft(value, 8 * PIECE) <= 0;

function roomLeft(value: Json | undefined, room: number): number {
  let left = room - 1;
  if (typeof value !== "object" || value === null) return left;
  if (Array.isArray(value))
    for (let at = 0; at < value.length && left > 0; at++) left = roomLeft(value[at], left);
  else
    for (const key in value) {
      if (left <= 0) break;
      left = roomLeft(value[key], left);
    }
  return left;
}

/** Makes the same text as `canonicalText`, and yields every few hundred members. */
export function* canonicalPieces(value: Json, made = { members: 0 }): Generator<undefined, string> {
  if (typeof value !== "object" || value === null) return canonicalText(value);
  const isList = Array.isArray(value);
  const keys = isList ? value.keys() : yield* sortedInPieces(Object.keys(value));
  let text = "";
  for (const key of keys) {
    if (++made.members % PIECE === 0) yield;
    const member = (value as Record<string | number, Json>)[key]; // its own key, or its own index
    if (member === undefined && !isList) continue;
    const inside = typeof member === "object" ? yield* canonicalPieces(member, made) : canonicalText(member!);
    text += `${text === "" ? "" : ","}${isList ? "" : `${quotedKey(String(key))}:`}${inside}`;
  }
  return isList ? `[${text}]` : `{${text}}`;
}

function* sortedInPieces(keys: string[]): Generator<undefined, string[]> {
  if (keys.length > PIECE) yield;
  const inOrder = sorted(keys);
  if (keys.length > PIECE) yield;
  return inOrder;
}

/** Above this many keys, sort() takes less time than moving each key to its place. */
const MANY_KEYS = 24;

/**
 * Sorts keys in place by UTF-16 code units, as RFC 8785 requires: the order of `>` and of sort(), which allocates memory.
 */
function sorted(keys: string[]): string[] {
  if (keys.length > MANY_KEYS) return keys.sort();
  for (let place = 1; place < keys.length; place++) {
    const key = keys[place]!;
    let to = place;
    for (; to > 0 && keys[to - 1]! > key; to--) keys[to] = keys[to - 1]!;
    keys[to] = key;
  }
  return keys;
}

/** Quoted keys are kept, because keys recur, above all those of our own documents. */
const quotedKeys = new Map<string, string>();
const MOST_KEYS = 4_096;

function quotedKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  const text = quoted(key);
  // Callers' own keys must not fill the memory.
  if (quotedKeys.size < MOST_KEYS && key.length <= 64) quotedKeys.set(key, text);
  return text;
}

function quoted(text: string): string {
  if (!NOT_PLAIN.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new TypeError("a lone surrogate has no canonical form");
  return JSON.stringify(text);
}
