import type { Incoming } from "./transport";

/** Whether `If-None-Match` shows that the caller already has this ETag. Tags are compared weakly, as RFC 9110 requires. */
export function isKnown(incoming: Incoming, etag: string): boolean {
  const known = incoming.header("if-none-match")?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
