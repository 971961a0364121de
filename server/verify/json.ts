import type { Json } from "@/server/platform/durable/step";

export type JsonRecord = { [member: string]: Json };

// Defined again here, because copies of this folder have no other code of ours but the canonical form.
export const isJsonRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

/** The JSON value of a text with its duplicate members, or the reason why it is not JSON. */
export type Read = { value: Json; duplicates: string[] } | { unreadable: string };

/**
 * Reads one JSON value and nothing after it. Reports members that occur twice, because parsers differ in which one they
 * use. White space and the order of members do not matter: the canonical form is what is sealed.
 */
export function readJson(text: string): Read {
  const { end, isWhole, duplicates } = walk(text);
  if (isWhole && end === text.length) return { value: JSON.parse(text), duplicates };
  const place = placeIn(text, end);
  if (isWhole) return { unreadable: `followed by other text at ${place}` };
  return {
    unreadable: `not JSON: ${end < text.length ? shownValue(text.slice(end, end + 20)) : "the end"} at ${place}`,
  };
}

/** The line and column of a character, as editors count them. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

const SPACE = /[ \t\n\r]*/y;
const OTHER = /[{}[\],:]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string contains none
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

type Open = { path: string; keys: Set<string> | null; key: string; index: number };
type Next = "value" | "first value" | "key" | "first key" | "colon" | "comma" | "nothing";

/** Scans one JSON value, to its end or to the start of the first invalid token. */
function walk(text: string): { end: number; isWhole: boolean; duplicates: string[] } {
  const open: Open[] = [];
  const duplicates: string[] = [];
  let next: Next = "value";
  let end = after(SPACE, text, 0);
  while (next !== "nothing") {
    const stop = text[end] === '"' ? afterString(text, end) : after(OTHER, text, end);
    const token = text.slice(end, stop);
    const top = open.at(-1);
    const isClosing = token === (top?.keys ? "}" : "]") && top !== undefined;
    if (isClosing && (next === "comma" || next === "first key" || next === "first value")) {
      open.pop();
      next = open.length > 0 ? "comma" : "nothing";
    } else if (token === "," && next === "comma" && top) {
      top.index++;
      next = top.keys ? "key" : "value";
    } else if (token === ":" && next === "colon") next = "value";
    else if ((next === "key" || next === "first key") && token.startsWith('"') && top?.keys) {
      top.key = JSON.parse(token);
      if (top.keys.has(top.key)) duplicates.push(pathOf(top));
      top.keys.add(top.key);
      next = "colon";
    } else if ((next === "value" || next === "first value") && (token === "{" || token === "[")) {
      const keys = token === "{" ? new Set<string>() : null;
      open.push({ path: top ? pathOf(top) : "", keys, key: "", index: 0 });
      next = keys ? "first key" : "first value";
    } else if ((next === "value" || next === "first value") && /^["\-\dtfn]/.test(token)) {
      next = top ? "comma" : "nothing";
    } else return { end, isWhole: false, duplicates };
    end = after(SPACE, text, stop);
  }
  return { end, isWhole: true, duplicates };
}

/** The end of a match that begins at `from`; `from` itself if there is none. */
function after(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** Scans in pieces, because a single pattern would exhaust the stack on a long text. */
function afterString(text: string, from: number): number {
  for (let at = from + 1; ; ) {
    const end = after(PLAIN, text, at);
    if (text[end] === '"') return end + 1;
    at = after(ESCAPE, text, end);
    if (at === end) return from;
  }
}

const pathOf = ({ path, keys, key, index }: Open) =>
  keys === null ? `${path}[${index}]` : path === "" ? key : `${path}.${key}`;

/** One place where two documents differ; undefined means absent. */
export type Difference = { path: string; here: Json | undefined; there: Json | undefined };

/** True if two digests are the same. Older documents have `v1:` or `sha256:` before theirs. */
export const isSameDigest = (one: Json | undefined, other: Json | undefined): boolean =>
  typeof one === "string" && typeof other === "string" && bareDigest(one) === bareDigest(other);
/** The hexadecimal digits of a digest. */
export const bareDigest = (digest: string) => digest.replace(/^(?:v1|sha256):/, "");

/** The places where two values differ, as deep as possible; at most `most`. */
export function differencesOf(one: Json | undefined, other: Json | undefined, most = 20): Difference[] {
  const found: Difference[] = [];
  const compare = (left: Json | undefined, right: Json | undefined, path: string): void => {
    if (found.length >= most || left === right) return;
    if (/(^|\.)requestHash$/.test(path) && isSameDigest(left, right)) return;
    const isList = Array.isArray(left) && Array.isArray(right);
    if (isList || (isJsonRecord(left) && isJsonRecord(right))) {
      const [a, b] = [left as JsonRecord, right as JsonRecord]; // lists are compared by index
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        compare(own(a, key), own(b, key), isList ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`);
      return;
    }
    found.push({ path: path || "the document", here: left, there: right });
  };
  compare(one, other, "");
  return found;
}

const own = (value: JsonRecord, key: string) => (Object.hasOwn(value, key) ? value[key] : undefined);

/** A value shortened for a sentence. */
export function shownValue(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
