import type { IncomingMessage, ServerResponse } from "node:http";
import type { Incoming } from "@/server/api/transport";
import { framersOf } from "@/server/domain/embeds";

/** Tells the pages that this answer already states who may frame it; without this header they allow no one (next.config.js). */
const SAID = "x-capstan-framed";

/**
 * Lets host pages frame a panel: those of the session or panel that the address names, which is no secret. An unknown session or
 * panel, and any other page, may not be framed.
 */
export async function allowFrames(
  incoming: Incoming,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  delete request.headers[SAID]; // only we may set it
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
