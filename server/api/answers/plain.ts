import { newId } from "@/server/platform/ids";
import { VERSION } from "@/server/platform/settings/version";
import { textsOf } from "@/server/platform/text/header";
import type { Incoming, Outgoing } from "../transport";

const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The id of a request: the caller's own, so that logs of both sides can be joined. A new one if the caller sent none, a
 * malformed one or several.
 */
export function requestIdFor(incoming: Incoming): string {
  if (incoming.header("x-request-id") === undefined) return newId("request");
  const [given = "", other] = textsOf(incoming.lines("x-request-id"));
  return other === undefined && SANE_REQUEST_ID.test(given) ? given : newId("request");
}

/** Default headers of our responses. Nothing is cached unless the endpoint allows it. */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-capstan-version": VERSION,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}

/** A JSON response outside the API's endpoints. */
export function jsonAnswer(
  incoming: Incoming,
  status: number,
  body: string | null,
  own: Record<string, string> = {},
): Outgoing {
  const headers = { ...commonHeaders(requestIdFor(incoming)), "content-type": "application/json", ...own };
  return { status, headers, body };
}
