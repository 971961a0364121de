import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { SentKey } from "@/server/domain/envelope";
import { ValidationFault } from "@/server/platform/errors/errors";
import { textsOf } from "@/server/platform/text/header";
import type { Incoming } from "./transport";

/**
 * A header that carries text; undefined if it is not sent. Throws InvalidInput if it is sent twice with different
 * values.
 */
export function textHeader(incoming: Pick<Incoming, "lines">, name: TextHeader): string | undefined {
  const [text, other] = textsOf(incoming.lines(name.toLowerCase()));
  if (other === undefined) return text;
  throw new ValidationFault([
    {
      loc: ["header", name],
      msg: "This header is sent twice with different values. Send it once.",
      type: "header_repeated",
    },
  ]);
}

/**
 * The Idempotency-Key header, and the form in which 0.2.0 stored it if that differs: as Latin-1, with lines joined and quotes
 * kept.
 */
export function keyHeader(incoming: Incoming): SentKey | undefined {
  const key = textHeader(incoming, "Idempotency-Key");
  if (key === undefined) return undefined;
  const former = incoming.lines("idempotency-key").join(", ").trim();
  return former === key ? { key } : { key, former };
}

export const TEXT_HEADERS = [
  "Idempotency-Key",
  "Content-Disposition",
  "Last-Event-ID",
  "OpenAI-Project",
  "x-capstan-queue-deadline-seconds",
  "X-Request-Id",
] as const;
type TextHeader = (typeof TEXT_HEADERS)[number];

/** The values of each line of a header, as they were sent. */
export function headerLines({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  if (headers[name] === undefined) return [];
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/**
 * Separates the lines of a header. No header on the wire may contain this character, and hosts pass it on to their
 * handlers.
 */
const BETWEEN_LINES = "\u0001";

/** The same for a request whose lines a host joined, in a process where `keepLinesApart` marked them. */
export const linesOfRequest = ({ headers }: Request, name: string): string[] =>
  headers.get(name)?.split(BETWEEN_LINES) ?? [];

/**
 * Keeps the lines of repeated text headers apart for Next's handlers. Node joins lines by commas, which a value may also
 * contain, and Next passes on only the joined text.
 */
export function keepLinesApart(): void {
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage }; // as the channel is documented
    for (const name of LOWER_CASE) {
      if (request.headers[name]?.includes(", "))
        request.headers[name] = headerLines(request, name).join(BETWEEN_LINES);
    }
  });
}
const LOWER_CASE = TEXT_HEADERS.map((name) => name.toLowerCase());
