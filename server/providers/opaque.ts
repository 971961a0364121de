import { formFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import type { Opaque } from "./conversation";

/*
 * Opaque members of messages and tool calls, under their names in chat completions: members that only their server
 * understands and wants back. They are never interpreted here.
 */

/**
 * Names that no opaque member has: members that Capstan interprets, members that clients add to what they received, and
 * pictures, audio and video, whose tokens no number of bytes bounds.
 */
const RESERVED = {
  message: new Set([
    ...["role", "content", "tool_calls", "tool_call_id", "function_call", "name", "id"],
    ...["type", "index", "status", "logprobs", "parsed", "cache_control"],
    ...["audio", "image", "images", "video", "videos"],
  ]),
  call: new Set([
    ...["id", "index", "type", "function", "call_id", "name", "arguments", "status", "parsed_arguments"],
    "cache_control",
  ]),
};
type Of = keyof typeof RESERVED;

export const isReserved = (name: string, of: Of): boolean => RESERVED[of].has(name);

/** The opaque members of a message; undefined if there are none. */
export const opaqueOfMessage = (members: Record<string, unknown>): Opaque | undefined =>
  opaqueIn(members, "message");
/** The opaque members of a tool call; undefined if there are none. */
export const opaqueOfCall = (members: Record<string, unknown>): Opaque | undefined =>
  opaqueIn(members, "call");

function opaqueIn(members: Record<string, unknown>, of: Of): Opaque | undefined {
  const found = Object.entries(members).filter(
    // Values that cannot be stored cannot be sent back either.
    ([name, value]) => !isReserved(name, of) && !saysNothing(name, value) && formFlaw([name, value]) === null,
  );
  return found.length > 0 ? (Object.fromEntries(found) as Opaque) : undefined; // values come from JSON
}

/**
 * Is a member as good as absent? Empty reasoning is not: DeepSeek wants it back
 * (api-docs.deepseek.com/guides/thinking_mode).
 */
function saysNothing(name: string, value: unknown): boolean {
  if (value === "" && name === "reasoning_content") return false;
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

// ---- streams

/**
 * Adds a piece of a stream to the members so far. `known` is changed in place, because copying it for each piece would
 * take quadratic time in a number that the server chooses.
 */
export function joinMembers(
  known: Record<string, unknown>,
  piece: Record<string, unknown>,
): Record<string, unknown> {
  return joinInto(known, piece, (name) => IN_PIECES.test(name));
}

/** Names of texts that arrive in pieces; any other text arrives whole, or repeatedly. */
const IN_PIECES = /reason|think|thought|refusal|summary|text|data/i;

function joinInto(
  known: Record<string, unknown>,
  piece: Record<string, unknown>,
  isInPieces: (name: string) => boolean,
): Record<string, unknown> {
  for (const [name, value] of Object.entries(piece)) {
    // `__proto__` is not a member, but the object that all objects inherit from.
    if (name === "__proto__") continue;
    const before = Object.hasOwn(known, name) ? known[name] : undefined;
    known[name] = joinValue(before, value, isInPieces(name));
  }
  return known;
}

function joinValue(known: unknown, piece: unknown, isInPieces: boolean): unknown {
  if (piece === undefined || piece === null) return known;
  if (typeof known === "string" && typeof piece === "string") return isInPieces ? known + piece : piece;
  if (Array.isArray(known) && Array.isArray(piece)) return joinLists(known, piece);
  if (!isObject(known) || !isObject(piece)) return piece;
  // A signature inside an object is repeated, and the last one is complete.
  return joinInto(known, piece, () => false);
}

/** Joins entries of the same index and type, in the order in which they begin. */
function joinLists(known: unknown[], pieces: readonly unknown[]): unknown[] {
  const places = placesIn(known);
  for (const piece of pieces) {
    const key = keyOf(piece);
    const begun = key === null ? lastOf(known, piece) : known[places.get(key) ?? known.length];
    if (isObject(begun) && isObject(piece)) joinInto(begun, piece, (name) => TEXTS.has(name));
    else {
      if (key !== null) places.set(key, known.length);
      known.push(piece);
    }
  }
  return known;
}

/** Texts of an entry that arrive in pieces, by their names at OpenRouter and LiteLLM. */
const TEXTS = new Set(["text", "summary", "data", "thinking"]);

/** Index and type of an entry; null if it has no index. */
const keyOf = (entry: unknown): string | null =>
  isObject(entry) && entry.index !== undefined ? JSON.stringify([entry.index, entry.type]) : null;

/** Index of a list's entries by `keyOf`, built once and cached for the life of the list. */
const placesOf = new WeakMap<unknown[], Map<string, number>>();

function placesIn(list: unknown[]): Map<string, number> {
  const found = placesOf.get(list);
  if (found) return found;
  const places = new Map<string, number>();
  for (const [at, entry] of list.entries()) {
    const key = keyOf(entry);
    if (key !== null) places.set(key, at);
  }
  placesOf.set(list, places);
  return places;
}

/** The last entry, if this piece continues it: reasoning arrives in pieces without an index, until its signature. */
function lastOf(list: readonly unknown[], piece: unknown): unknown {
  const last = list.at(-1);
  if (!isObject(last) || !isObject(piece) || last.index !== undefined) return undefined;
  return last.type === "thinking" && piece.type === "thinking" && !last.signature ? last : undefined;
}
