import { sha256Hex } from "@/server/platform/text/canonical";
import { bytes, type Incoming, type Outgoing, type RawResponse } from "../transport";
import { commonHeaders, requestIdFor } from "./plain";

/** Headers of a response that anyone may keep for a minute. */
export const FOR_A_MINUTE = { "cache-control": "public, max-age=60" };

/** Headers of a public document that tools in browsers read. */
export const FOR_ALL_PAGES = { ...FOR_A_MINUTE, "access-control-allow-origin": "*" };

/** The ETag of a text: the first 128 bits of its SHA-256. */
export const etagOf = (text: string) => `"${sha256Hex(text).slice(0, 32)}"`;

/**
 * A body as JSON, or as the `content-type` that is given; 304 without a body if the caller's `If-None-Match` has the
 * ETag.
 */
export function published(
  incoming: Incoming,
  body: string | Uint8Array,
  { "content-type": type = "application/json", ...headers }: { etag: string; [name: string]: string },
): RawResponse {
  if (isKnown(incoming, headers.etag)) return bytes({ status: 304, headers });
  return bytes({ headers: { ...headers, "content-type": type }, body });
}

/**
 * The same for a public document outside the API's endpoints, with the common headers; the ETag is that of the text
 * unless one is given.
 */
export function publishedDocument(
  incoming: Incoming,
  text: string,
  { etag = etagOf(text), ...headers }: { [name: string]: string } = {},
): Outgoing {
  const answer = published(incoming, text, { ...FOR_ALL_PAGES, ...headers, etag });
  return { ...answer, headers: { ...commonHeaders(requestIdFor(incoming)), ...answer.headers } };
}

/** True if `If-None-Match` shows that the caller already has this ETag. Tags are compared weakly, as RFC 9110 requires. */
function isKnown(incoming: Incoming, etag: string): boolean {
  const known = incoming.header("if-none-match")?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
