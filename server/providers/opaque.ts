import { formFlaw } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import type { Opaque } from "./conversation";

/*
 * Opaque members of messages and calls, by the names that chat completions have for them: those that mean something to their
 * server alone, which wants them back. They are never read here.
 */

/** Names that mean or do something here, or that clients add to what they received: no opaque member has one. */
const RESERVED = {
  message: new Set([
    ...["role", "content", "tool_calls", "tool_call_id", "function_call", "name", "id"],
    ...["type", "index", "status", "logprobs", "parsed", "cache_control"],
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

/** Members of a message as they came, joined with those of a further piece. */
export function joinMembers(
  known: Record<string, unknown>,
  piece: Record<string, unknown>,
): Record<string, unknown> {
  const joined = { ...known };
  for (const [name, value] of Object.entries(piece))
    joined[name] = joinValue(joined[name], value, IN_PIECES.test(name));
  return joined;
}

/** Texts that come in pieces; any other text comes whole, or again and again. */
const IN_PIECES = /reason|think|thought|refusal|summary|text|data/i;

function joinValue(known: unknown, piece: unknown, isInPieces: boolean): unknown {
  if (piece === undefined || piece === null) return known;
  if (typeof known === "string" && typeof piece === "string") return isInPieces ? known + piece : piece;
  if (Array.isArray(known) && Array.isArray(piece)) return joinLists(known, piece);
  if (!isObject(known) || !isObject(piece)) return piece;
  const joined = { ...known };
  // Of a signature in an object, the last one is whole.
  for (const [name, value] of Object.entries(piece)) joined[name] = joinValue(joined[name], value, false);
  return joined;
}

/** Entries of one place and kind are one, in the order in which they begin. */
function joinLists(known: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const joined = [...known];
  for (const piece of pieces) {
    const place = joined.findLastIndex((each, at) => isOfOne(each, piece, at === joined.length - 1));
    if (place < 0) joined.push(piece);
    else joined[place] = joinEntry(joined[place] as object, piece as object); // both are objects, as compared
  }
  return joined;
}

/** Thinking comes in pieces without a place, until its signature. */
function isOfOne(one: unknown, other: unknown, isLast: boolean): boolean {
  if (!isObject(one) || !isObject(other) || one.type !== other.type) return false;
  if (one.index !== undefined) return one.index === other.index;
  return isLast && other.index === undefined && one.type === "thinking" && !one.signature;
}

/** The texts of an entry that come in pieces, as OpenRouter and LiteLLM name them. */
const TEXTS = new Set(["text", "summary", "data", "thinking"]);

function joinEntry(known: object, piece: object): object {
  const joined: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(piece))
    joined[name] = joinValue(joined[name], value, TEXTS.has(name));
  return joined;
}
