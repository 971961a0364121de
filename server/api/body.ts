import { isAscii, isUtf8, transcode } from "node:buffer";
import { createHash } from "node:crypto";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { sha256Hex } from "@/server/platform/text/canonical";
import { inTurns, LARGE } from "@/server/platform/time/turn";
import { parseInPieces } from "./json-pieces";
import { refuseHostileJson } from "./json-scan";
import type { Incoming } from "./transport";

/** The size limit of a JSON body, in bytes, unless its endpoint sets another. */
export const DEFAULT_BODY_LIMIT = 1024 * 1024;

const EMPTY = new Uint8Array(0);

/**
 * The body as bytes, at most `limit`. A larger one is refused by its Content-Length, or while it is read. Throws
 * PayloadTooLarge (413).
 */
export async function readLimited(incoming: Incoming, limit: number): Promise<Uint8Array> {
  if (!incoming.body) return EMPTY;
  const declared = incoming.header("content-length");
  if (declared !== undefined && Number(declared) > limit) tooLarge(limit);
  if (incoming.body.collect) return (await incoming.body.collect(limit)) ?? tooLarge(limit);
  let first: Uint8Array | undefined;
  let more: Uint8Array[] | undefined;
  let length = 0;
  for await (const chunk of incoming.body) {
    length += chunk.byteLength;
    if (length > limit) tooLarge(limit);
    if (!first) first = chunk;
    else if (more) more.push(chunk);
    else more = [first, chunk];
  }
  if (more) return Buffer.concat(more, length);
  return first ?? EMPTY;
}

/** Passes the bytes through. Throws a validation error if reading them fails, as when the caller disconnects. */
export async function* whole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* bytes;
  } catch {
    throw incompleteBody();
  }
}

export const incompleteBody = () =>
  new ValidationFault([
    { loc: ["body"], msg: "The request body ended early. Send it again.", type: "body_incomplete" },
  ]);

function tooLarge(limit: number): never {
  fail("PayloadTooLarge", `The request body is larger than the limit of ${limit} bytes.`, {
    maxBytes: limit,
  });
}

/**
 * The JSON value of a request's body; undefined if the body is empty. Strict: JSON content type, UTF-8, no compression,
 * and nothing that two parsers would read differently (see refuseHostileJson). `seen` receives the bytes before they
 * are parsed.
 */
export async function readJsonBody(
  incoming: Incoming,
  limit: number,
  seen?: (bytes: Uint8Array) => Promise<void>,
): Promise<unknown> {
  const bytes = await readLimited(incoming, limit);
  if (seen) await seen(bytes);
  if (bytes.byteLength === 0) return undefined;
  const contentType = incoming.header("content-type");
  if (!isJsonType(contentType)) fail("UnsupportedMediaType", "Send the body as application/json.");
  if (!isInUtf8(contentType, bytes)) fail("UnsupportedMediaType", "Send the body in UTF-8.");
  const encoding = incoming.header("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity")
    fail("UnsupportedMediaType", "Send the body uncompressed, without a Content-Encoding.");
  return inTurns(strictJson(bytes));
}

/** SHA-256 in lower-case hex. A large body is hashed in pieces that yield to other requests. */
export async function hashInTurns(bytes: Uint8Array): Promise<string> {
  return bytes.byteLength <= LARGE ? sha256Hex(bytes) : inTurns(inPieces(bytes));
}

function* inPieces(bytes: Uint8Array): Generator<undefined, string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.byteLength; at += LARGE) {
    hash.update(bytes.subarray(at, at + LARGE));
    yield;
  }
  return hash.digest("hex");
}

/**
 * Parses bytes that must be unambiguous JSON. Throws a ValidationFault that names the problem. Yields between its passes,
 * because each takes time on a large body.
 */
export function* strictJson(bytes: Uint8Array): Generator<undefined, unknown> {
  if (!isUtf8(bytes)) invalid("The body is not valid UTF-8.", "unicode_invalid");
  yield;
  const text = yield* decoded(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  yield;
  const mostNames = refuseHostileJson(text);
  yield;
  let value: unknown;
  try {
    value = mostNames > MANY_NAMES ? yield* parseInPieces(text) : JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may contain secrets.
    invalid("The body is not valid JSON.", "json_invalid");
  }
  yield;
  return value;
}

/** For an object with more names than this, JSON.parse takes more than a few milliseconds. */
const MANY_NAMES = 4_096;

/**
 * UTF-8 as text. A large text that is not pure ASCII takes two passes: if most of its bytes are not ASCII, they are
 * four times as fast as V8's single one.
 */
function* decoded(bytes: Buffer): Generator<undefined, string> {
  if (bytes.length <= LARGE || isAscii(bytes)) return bytes.toString("utf8");
  const units = transcode(bytes, "utf8", "utf16le");
  yield;
  return units.toString("utf16le");
}

function invalid(msg: string, type: string): never {
  throw new ValidationFault([{ loc: ["body"], msg, type }]);
}

/**
 * True if the media type's charset is UTF-8, which is the default, or ASCII and all bytes are ASCII. `strictJson`
 * checks that the bytes are UTF-8.
 */
function isInUtf8(contentType: string, bytes: Uint8Array): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? "utf-8";
  return /^utf-?8$/i.test(charset) || (/^(us-)?ascii$/i.test(charset) && isAscii(bytes));
}

function isJsonType(contentType: string | undefined): contentType is string {
  if (contentType === undefined) return false;
  if (contentType === "application/json") return true;
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  return type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"));
}
