import type { IncomingMessage, ServerResponse } from "node:http";
import type { Incoming } from "@/server/api/transport";
import { framersOf } from "@/server/domain/embeds";

/** Tells the pages that who may frame this answer is said already; without it they say no one (next.config.js). */
const SAID = "x-capstan-framed";

/**
 * Lets the host pages of a panel show it: those of the session or panel that the address names, which is no secret. Of
 * no one's, and of any other page, no one may.
 */
export async function allowFrames(
  incoming: Incoming,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  delete request.headers[SAID]; // ours to say
  if (incoming.path !== "/embed") return;
  const [sessionId, definitionId] = [incoming.query.get("session"), incoming.query.get("definition")];
  const origins = await framersOf({
    ...(sessionId ? { sessionId } : {}),
    ...(definitionId ? { definitionId } : {}),
  });
  if (origins.length === 0) return;
  request.headers[SAID] = "1";
  response.setHeader(
    "content-security-policy",
    `frame-ancestors ${origins.join(" ")}; base-uri 'self'; object-src 'none'; form-action 'self'`,
  );
}
