import type { Incoming } from "./transport";

/** Has the caller the answer of this ETag already, by `If-None-Match`? Tags are compared weakly, as RFC 9110 says for it. */
export function isKnown(incoming: Incoming, etag: string): boolean {
  const known = incoming.header("if-none-match")?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
