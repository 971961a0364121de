import { newId } from "@/server/ids";
import { VERSION } from "@/server/version";
import type { Incoming, Outgoing } from "./transport";

const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The id of a request: the caller's own when it is a sane one, so that logs on both sides can be joined. */
export function requestIdOf(incoming: Incoming): string {
  const given = incoming.header("x-request-id");
  return given !== undefined && SANE_REQUEST_ID.test(given) ? given : newId("request");
}

/** The headers of every answer. What is not said to be cacheable is not cached. */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-capstan-version": VERSION,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}

/** An answer outside the API's endpoints, in JSON. */
export function jsonAnswer(
  incoming: Incoming,
  status: number,
  body: string | null,
  own: Record<string, string> = {},
): Outgoing {
  const headers = { ...commonHeaders(requestIdOf(incoming)), "content-type": "application/json", ...own };
  return { status, headers, body };
}
