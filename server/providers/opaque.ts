import { formFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import type { Opaque } from "./conversation";

/*
 * Opaque members of messages and calls, by the names that chat completions have for them: those that mean something to their
 * server alone, which wants them back. They are never read here.
 */

/**
 * Names that mean or do something here, that clients add to what they received, or that carry pictures and sound, whose tokens
 * no number of bytes bounds: no opaque member has one.
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

/** The opaque members among those of a message; undefined: there are none. */
export const opaqueOfMessage = (members: Record<string, unknown>): Opaque | undefined =>
  opaqueIn(members, "message");
/** The opaque members among those of a call of a tool, likewise. */
export const opaqueOfCall = (members: Record<string, unknown>): Opaque | undefined =>
  opaqueIn(members, "call");

function opaqueIn(members: Record<string, unknown>, of: Of): Opaque | undefined {
  const found = Object.entries(members).filter(
    // What no record can be made of could not be sent back either.
    ([name, value]) => !isReserved(name, of) && !saysNothing(name, value) && formFlaw([name, value]) === null,
  );
  return found.length > 0 ? (Object.fromEntries(found) as Opaque) : undefined; // parsed JSON
}

/** Is a member as good as absent? Empty reasoning is not: DeepSeek wants it back (api-docs.deepseek.com/guides/thinking_mode). */
function saysNothing(name: string, value: unknown): boolean {
  if (value === "" && name === "reasoning_content") return false;
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

// ---- streams

/**
 * Adds a further piece to the members of a message as they came. What is there is changed in place: a copy for each piece would
 * take time with the square of their number, which a server chooses.
 */
export function joinMembers(
  known: Record<string, unknown>,
  piece: Record<string, unknown>,
): Record<string, unknown> {
  return joinInto(known, piece, (name) => IN_PIECES.test(name));
}

/** Texts that come in pieces; any other text comes whole, or again and again. */
const IN_PIECES = /reason|think|thought|refusal|summary|text|data/i;

function joinInto(
  known: Record<string, unknown>,
  piece: Record<string, unknown>,
  isInPieces: (name: string) => boolean,
): Record<string, unknown> {
  for (const [name, value] of Object.entries(piece)) {
    // It is no member, but what all objects inherit from.
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
  // Of a signature in an object, the last one is whole.
  return joinInto(known, piece, () => false);
}

/** Entries of one place and kind are one, in the order in which they begin. */
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

/** The texts of an entry that come in pieces, as OpenRouter and LiteLLM name them. */
const TEXTS = new Set(["text", "summary", "data", "thinking"]);

/** The place and kind of an entry; null: it has no place. */
const keyOf = (entry: unknown): string | null =>
  isObject(entry) && entry.index !== undefined ? JSON.stringify([entry.index, entry.type]) : null;

/** The places of a list's entries, by place and kind: found once, and kept as long as the list. */
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

/** The last entry, if this piece goes on with it: thinking comes in pieces without a place, until its signature. */
function lastOf(list: readonly unknown[], piece: unknown): unknown {
  const last = list.at(-1);
  if (!isObject(last) || !isObject(piece) || last.index !== undefined) return undefined;
  return last.type === "thinking" && piece.type === "thinking" && !last.signature ? last : undefined;
}
