import { redactJson } from "@/server/platform/crypto/redact-secrets";
import type { Answer } from "@/server/platform/http";
import { parseForeignJson } from "@/server/platform/text/json-text";
import { type ProviderAccount, ProviderFault } from "./define";
import { ReportedError } from "./ends";
import { bareError, type Explain, faultOfSaid, requestId, unreadable } from "./faults";
import { type EventWish, eventReader, formSniffer, type ServerEvent } from "./server-events";
import { vendorWords } from "./vendor-words";

/* How the bodies of vendors' answers are read: JSON, bytes, or events as they come. */

const MAX_ERROR_BYTES = 64 * 1024;

/** What a call needs of `ProviderIo`. */
export type HttpIo = ProviderAccount;

export type HttpReply = Answer & {
  /** The parsed JSON body, without the credentials; parse it with a schema before use. Undefined: it was events. */
  body: unknown;
  /** The server said a credential back, so the body is not just what it said. */
  hadCredential?: boolean;
};

type Reading = {
  /** The most bytes of a success, decoded. */
  limit: number;
  explain?: Explain | undefined;
  /** Absent: no answer is read as events. */
  onEvent?: ((event: ServerEvent) => EventWish) | undefined;
};
type Body = Pick<HttpReply, "body" | "hadCredential">;

export const isSuccess = (status: number) => status >= 200 && status < 300;

/**
 * Collects the body of one answer. Whether a success is events or JSON is decided by its first characters; only where these are
 * neither does the media type decide.
 */
export function collect(io: HttpIo, { limit, explain, onEvent }: Reading) {
  const chunks: Buffer[] = [];
  const sniff = formSniffer();
  let received = 0;
  let isUndecided = onEvent !== undefined;
  let readEvents: ((chunk: Uint8Array) => EventWish) | null = null;
  /** The fault that ended the answer, and whether its bytes are not what their coding says. */
  const so: { verdict: ProviderFault | null; isCorrupt: boolean } = { verdict: null, isCorrupt: false };

  const decide = (chunk: Buffer, answer: Answer) => {
    const form = sniff(chunk);
    if (form === null) return;
    isUndecided = false;
    if (form === "events" || (form === "other" && isEventStream(answer))) readEvents = eventsOf(answer);
  };

  const eventsOf = (answer: Answer) => {
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
      return "stop"; // for the verdict
    }
  };

  return {
    so,
    reader: {
      onChunk(chunk: Buffer, answer: Answer) {
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
    /** The body of a success; undefined: it was events. */
    body(answer: Answer, read: "json" | "bytes"): Body {
      // What came of a stream is judged by its own end.
      if (readEvents) return { body: undefined };
      if (so.isCorrupt) throw notJson(answer, io);
      if (isUndecided && isEventStream(answer)) return { body: undefined };
      return bodyOf(answer, chunks, read, io);
    },
    /** An error's body: what it says in JSON, else its text where it is one. */
    errorBody(answer: Answer): unknown {
      if (so.isCorrupt || isEncoded(answer)) return undefined;
      const text = Buffer.concat(chunks).toString("utf8");
      // What begins as JSON and is none was cut off.
      return parseJson(chunks, io).json ?? (/^\s*[{[]/.test(text) ? undefined : text);
    },
  };
}

const isEventStream = ({ header }: Answer) => /^text\/event-stream\b/i.test(header("content-type") ?? "");

function bodyOf(answer: Answer, chunks: Buffer[], read: "json" | "bytes", io: HttpIo): Body {
  if (read === "bytes" && !isEncoded(answer)) return { body: Buffer.concat(chunks) };
  const { json, hadCredential } = isEncoded(answer) ? {} : parseJson(chunks, io);
  if (json === undefined) throw notJson(answer, io);
  return { body: json, hadCredential };
}

const tooLarge = ({ status }: Answer, limit: number) =>
  new ProviderFault("failed", "attempted", `The provider's answer is larger than ${limit} bytes.`, {
    status,
    concerns: "request",
  });

/** The body is not JSON, or its content coding is unknown or not the one it is in. */
const notJson = ({ status, header }: Answer, io: HttpIo) =>
  new ProviderFault("failed", "attempted", "The provider's answer is not JSON.", {
    status,
    ...requestId(header, io),
    concerns: "request",
  });

/** Codings that are known were decoded before. */
function isEncoded({ header }: Answer): boolean {
  const coding = header("content-encoding");
  return coding !== null && coding !== "" && coding !== "identity";
}

/** An error that came as an event, with the event's words. */
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

/** What an answer says in JSON; nothing for what is no JSON: the parser's own error is dropped, since it quotes the text. */
export function parseJson(chunks: Buffer[], io: HttpIo): { json?: unknown; hadCredential?: boolean } {
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  try {
    const text = bytes.toString("utf8");
    const json = parseForeignJson(text);
    // Letters may be written as escapes.
    const plain = text.includes("\\") ? JSON.stringify(json) : text;
    const clean = redactJson(plain, io.credentials);
    return clean === plain ? { json } : { json: parseForeignJson(clean), hadCredential: true };
  } catch {
    return {};
  }
}
