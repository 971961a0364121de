import { redactJson } from "@/server/platform/crypto/redact-secrets";
import type { HttpAnswer } from "@/server/platform/http";
import { parseForeignJson } from "@/server/platform/text/json-text";
import { type ProviderAccount, ProviderFault } from "./define";
import { ReportedError } from "./ends";
import { bareError, type Explain, faultOfSaid, requestId, unreadable } from "./faults";
import { type EventWish, eventReader, formSniffer, type ServerEvent } from "./server-events";
import { vendorWords } from "./vendor-words";

/* Reads the bodies of vendors' answers: JSON, bytes, or events as they arrive. */

const MAX_ERROR_BYTES = 64 * 1024;

/** The part of `ProviderIo` that an HTTP call needs. */
export type HttpIo = ProviderAccount;

export type HttpReply = HttpAnswer & {
  /**
   * The parsed JSON body with credentials redacted, to be validated with a schema before use; a Buffer if bytes were
   * requested; undefined if the answer was events or a redirect.
   */
  body: unknown;
  /** True if the server repeated a credential, so the body differs from the one sent. */
  hadCredential?: boolean;
};

type Reading = {
  /** Maximum size of a successful answer in bytes, after decompression. */
  limit: number;
  explain?: Explain | undefined;
  /** Receives events; if absent, no answer is read as events. */
  onEvent?: ((event: ServerEvent) => EventWish) | undefined;
};
type Body = Pick<HttpReply, "body" | "hadCredential">;

export const isSuccess = (status: number) => status >= 200 && status < 300;

/**
 * Collects the body of one answer. The first characters of a success decide between events and JSON; the media type
 * decides only if they match neither.
 */
export function collectBody(io: HttpIo, { limit, explain, onEvent }: Reading) {
  const chunks: Buffer[] = [];
  const sniff = formSniffer();
  let received = 0;
  let isUndecided = onEvent !== undefined;
  let readEvents: ((chunk: Uint8Array) => EventWish) | null = null;
  /**
   * `verdict` is the fault that ended the answer; `isCorrupt` tells that its bytes do not match their content coding.
   */
  const so: { verdict: ProviderFault | null; isCorrupt: boolean } = { verdict: null, isCorrupt: false };

  const decide = (chunk: Buffer, answer: HttpAnswer) => {
    const form = sniff(chunk);
    if (form === null) return;
    isUndecided = false;
    if (form === "events" || (form === "other" && isEventStream(answer))) readEvents = eventsOf(answer);
  };

  const eventsOf = (answer: HttpAnswer) => {
    let last = "";
    const read = eventReader((event) => {
      last = redactJson(event.data, io.credentials);
      return onEvent?.({ ...event, data: last }) ?? "more";
    });
    return (chunk: Uint8Array) => {
      try {
        return read(chunk);
      } catch (error) {
        if (error instanceof ReportedError)
          so.verdict = faultOfSaid(error.said, answer, io, { explain, ...error.before });
        else if (error instanceof ProviderFault) so.verdict = withWords(error, last, io);
        else so.verdict = unreadable(answer, io, bareError(error));
        throw so.verdict;
      }
    };
  };

  const tell = (chunk: Buffer) => {
    try {
      return readEvents?.(chunk) ?? "more";
    } catch {
      return "stop"; // the verdict is thrown by the caller
    }
  };

  return {
    so,
    reader: {
      onChunk(chunk: Buffer, answer: HttpAnswer) {
        received += chunk.byteLength;
        if (!isSuccess(answer.status)) {
          if (received > MAX_ERROR_BYTES) return "stop" as const;
          chunks.push(chunk);
          return "more" as const;
        }
        if (received > limit) {
          so.verdict = tooLarge(answer, limit);
          return "stop" as const;
        }
        if (readEvents) return tell(chunk);
        chunks.push(chunk);
        if (isUndecided) decide(chunk, answer);
        return readEvents ? tell(Buffer.concat(chunks.splice(0))) : ("more" as const);
      },
      onCorrupt() {
        so.isCorrupt = true;
      },
    },
    /** The body of a successful answer; undefined if it was events. Throws for a body that cannot be read. */
    body(answer: HttpAnswer, read: "json" | "bytes"): Body {
      // A stream is judged by its own end.
      if (readEvents) return { body: undefined };
      if (so.isCorrupt) throw notJson(answer, io);
      if (isUndecided && isEventStream(answer)) return { body: undefined };
      return bodyOf(answer, chunks, read, io);
    },
    /** The body of an error: its JSON, or else its text; undefined if it cannot be decoded or is truncated JSON. */
    errorBody(answer: HttpAnswer): unknown {
      if (so.isCorrupt || isEncoded(answer)) return undefined;
      const text = Buffer.concat(chunks).toString("utf8");
      // Text that begins like JSON but does not parse was truncated.
      return parseRedacted(chunks, io).json ?? (/^\s*[{[]/.test(text) ? undefined : text);
    },
  };
}

const isEventStream = ({ header }: HttpAnswer) => /^text\/event-stream\b/i.test(header("content-type") ?? "");

function bodyOf(answer: HttpAnswer, chunks: Buffer[], read: "json" | "bytes", io: HttpIo): Body {
  if (read === "bytes" && !isEncoded(answer)) return { body: Buffer.concat(chunks) };
  const { json, hadCredential } = isEncoded(answer) ? {} : parseRedacted(chunks, io);
  if (json === undefined) throw notJson(answer, io);
  return { body: json, hadCredential };
}

const tooLarge = ({ status }: HttpAnswer, limit: number) =>
  new ProviderFault("failed", "attempted", `The provider's answer is larger than ${limit} bytes.`, {
    status,
    concerns: "request",
  });

/** The body is not JSON, or its content coding is unknown or wrong. */
const notJson = ({ status, header }: HttpAnswer, io: HttpIo) =>
  new ProviderFault("failed", "attempted", "The provider's answer is not JSON.", {
    status,
    ...requestId(header, io),
    concerns: "request",
  });

/**
 * Is the body in a content coding that is unknown here? The HTTP client decodes the known ones and removes their
 * header.
 */
function isEncoded({ header }: HttpAnswer): boolean {
  const coding = header("content-encoding");
  return coding !== null && coding !== "" && coding !== "identity";
}

/** Adds the error text in the event, if there is one, to a fault. */
function withWords(fault: ProviderFault, event: string, io: HttpIo): ProviderFault {
  const { kind, submission, message, details, cause } = fault;
  const vendor = vendorWords(toJson(event), io);
  return vendor?.message
    ? new ProviderFault(kind, submission, message, { vendor, ...details, cause })
    : fault;
}

function toJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses an answer's JSON with credentials redacted. Returns nothing if it does not parse; the parser's error is
 * dropped because it quotes the text.
 */
export function parseRedacted(chunks: Buffer[], io: HttpIo): { json?: unknown; hadCredential?: boolean } {
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  try {
    const text = bytes.toString("utf8");
    const json = parseForeignJson(text);
    // A credential can be written with escapes.
    const plain = text.includes("\\") ? JSON.stringify(json) : text;
    const clean = redactJson(plain, io.credentials);
    return clean === plain ? { json } : { json: parseForeignJson(clean), hadCredential: true };
  } catch {
    return {};
  }
}
