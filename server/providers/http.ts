import type { z } from "zod";
import { redactJson } from "@/server/platform/crypto/redact-secrets";
import { type Answer, exchange } from "@/server/platform/http";
import { type ProviderAccount, ProviderFault } from "./define";
import { errorIn, ReportedError } from "./ends";
import {
  bareError,
  type Explain,
  faultOfAnswer,
  faultOfSaid,
  lost,
  requestId,
  safeWord,
  stoppedBeforeSending,
  unreachable,
  unreadable,
} from "./faults";
import { originOf } from "./origins";
import { type EventWish, eventReader, type ServerEvent } from "./server-events";
import { vendorWords } from "./vendor-words";

/*
 * How providers ask their vendors. One call is one request, and every call without a result is a `ProviderFault` that
 * says whether the request left.
 */

export type { Explanation } from "./faults";
export { safeWord };

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;

/** What a call needs of `ProviderIo`. */
export type HttpIo = ProviderAccount;

/** An API key as most vendors take it. */
export const bearer = ({ credentials }: Pick<HttpIo, "credentials">) => ({
  authorization: `Bearer ${credentials.apiKey?.reveal() ?? ""}`,
});

export type HttpReply = Answer & {
  /** The parsed JSON body, without the credentials; parse it with a schema before use. */
  body: unknown;
  /** The server said a credential back, so the body is not just what it said. */
  hadCredential?: boolean;
};

/** An answer that is a file. */
export type FileReply = Omit<HttpReply, "body"> & {
  bytes: Uint8Array;
  /** As the server names it, in lower case and without parameters; empty where it does not. */
  mediaType: string;
};

/** What every request of a provider says beside its path. */
export type HttpOptions = {
  headers: Record<string, string>;
  /** Larger answers are cut off and fail. Default 64 MiB. */
  maxResponseBytes?: number;
  explain?: Explain;
};

/** Sends JSON and reads a JSON answer of status 2xx; everything else is a `ProviderFault`. */
export const postJson = (
  io: HttpIo,
  path: string,
  { body, headers, ...options }: HttpOptions & { body: unknown },
): Promise<HttpReply> =>
  call(io, {
    ...options,
    method: "POST",
    path,
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

/**
 * Sends JSON and reads an answer that comes as server-sent events, each passed to `onEvent` as it comes; its answer says
 * whether the answer is whole (`EventWish`), a `ProviderFault` or `ReportedError` it throws ends the call. The reply has no body then; a server that
 * answers with JSON instead is read as by `postJson`. An answer that breaks off is lost, whatever was passed before.
 */
export const postForEvents = (
  io: HttpIo,
  path: string,
  { body, headers, ...options }: HttpOptions & { body: unknown; onEvent: (event: ServerEvent) => EventWish },
): Promise<HttpReply> =>
  call(io, {
    ...options,
    method: "POST",
    path,
    body: JSON.stringify(body),
    headers: {
      accept: "text/event-stream, application/json",
      "content-type": "application/json",
      ...headers,
    },
  });

/** Sends bytes of the given media type (multipart forms) and reads JSON; otherwise like `postJson`. */
export const postBytes = (
  io: HttpIo,
  path: string,
  { mediaType, headers, ...sent }: HttpOptions & { body: Uint8Array; mediaType: string },
): Promise<HttpReply> =>
  call(io, { ...sent, method: "POST", path, headers: { "content-type": mediaType, ...headers } });

/** Reads JSON, for polling; otherwise like `postJson`. */
export const getJson = (io: HttpIo, path: string, options: HttpOptions): Promise<HttpReply> =>
  call(io, { ...options, method: "GET", path, body: null });

/** Sends JSON and reads an answer that is a file; otherwise like `postJson`. */
export async function postForFile(
  io: HttpIo,
  path: string,
  { body, headers, ...options }: HttpOptions & { body: unknown },
): Promise<FileReply> {
  const reply = await call(io, {
    ...options,
    method: "POST",
    path,
    body: JSON.stringify(body),
    headers: { accept: "*/*", "content-type": "application/json", ...headers },
    read: "bytes",
  });
  return toFile(reply);
}

/** Reads an answer as a file. */
export const toFile = ({ body, ...reply }: HttpReply): FileReply => ({
  ...reply,
  bytes: body instanceof Uint8Array ? body : new Uint8Array(), // as it was asked to be read
  mediaType: (reply.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "",
});

/** What a file says in JSON; undefined where it is none. */
export const jsonOf = ({ bytes }: FileReply, io: HttpIo): unknown => parseJson([Buffer.from(bytes)], io).json;

/** Reads an answer of the expected shape; any other shape is a provider that failed. */
export function parseReply<T>(schema: z.ZodType<T>, reply: HttpReply, io: HttpIo): T {
  const parsed = schema.safeParse(reply.body);
  if (parsed.success) return parsed.data;
  const said = errorIn(reply.body);
  if (said) throw faultOfSaid(said, reply, io, {});
  // Paths only: values are the provider's.
  const paths = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
  throw unreadable(reply, io, new Error(`unexpected at ${paths}`));
}

/** The same of an answer that may carry an error with status 200; `explain` says what its code means. */
export function parseAnswer<T>(schema: z.ZodType<T>, reply: HttpReply, io: HttpIo, explain?: Explain): T {
  const said = errorIn(reply.body);
  if (said) throw faultOfSaid(said, reply, io, { explain });
  return parseReply(schema, reply, io);
}

/** One request, and how the body of its answer is read. */
type Request = HttpOptions & {
  method: "GET" | "POST";
  path: string;
  body: string | Uint8Array | null;
  onEvent?: (event: ServerEvent) => EventWish;
  read?: "json" | "bytes";
  /** A redirect is an answer, for the caller to judge. */
  redirects?: boolean;
};

/** Sends one request to the provider's server and reads its answer; whatever is no success is a fault. */
export async function call(
  io: HttpIo,
  {
    method,
    path,
    body,
    headers,
    maxResponseBytes: limit = MAX_RESPONSE_BYTES,
    explain,
    onEvent,
    read = "json",
    redirects = false,
  }: Request,
): Promise<HttpReply> {
  if (io.signal.aborted) throw stoppedBeforeSending();
  const { origin, prefix, search, pool } = originOf(io);
  const chunks: Buffer[] = [];
  let received = 0;
  let verdict: ProviderFault | null = null;
  /** Of an answer that comes as events: tells them, and whether that was all. */
  let lastEvent = "";
  let readEvents: ((chunk: Uint8Array) => EventWish) | null = null;

  const outcome = await exchange(
    {
      pool,
      origin,
      path: prefix + path + search,
      method,
      headers: { accept: "application/json", ...headers },
      body,
      signal: io.signal,
    },
    {
      onHead({ status, header }) {
        if (onEvent && isSuccess(status) && /^text\/event-stream\b/i.test(header("content-type") ?? ""))
          readEvents = eventReader((event) => {
            lastEvent = redactJson(event.data, io.credentials);
            return onEvent({ ...event, data: lastEvent });
          });
        return "more";
      },
      onChunk(chunk, answer) {
        received += chunk.byteLength;
        if (!isSuccess(answer.status)) {
          if (received > MAX_ERROR_BYTES) return "stop";
          chunks.push(chunk);
          return "more";
        }
        if (received > limit) {
          verdict = tooLarge(answer, limit);
          return "stop";
        }
        if (!readEvents) {
          chunks.push(chunk);
          return "more";
        }
        try {
          return readEvents(chunk);
        } catch (error) {
          if (error instanceof ReportedError)
            verdict = faultOfSaid(error.said, answer, io, { explain, ...error.before });
          else
            verdict =
              error instanceof ProviderFault
                ? withWords(error, lastEvent, io)
                : unreadable(answer, io, bareError(error));
          return "stop";
        }
      },
    },
  );

  if (verdict) throw verdict;
  if (outcome.state === "unsent")
    throw outcome.isStopped ? stoppedBeforeSending() : unreachable(outcome.error);
  const { answer } = outcome;
  // The status line alone is an answer: a definite error stays one when its body is cut or too long.
  const isError = answer !== null && !isSuccess(answer.status);
  if (outcome.state === "answered" && redirects && isRedirect(outcome.answer))
    return { ...outcome.answer, body: undefined };
  if (isError) throw faultOfAnswer(answer, errorBody(answer, chunks, io), io, explain);
  if (outcome.state === "lost") throw lost(outcome.error, outcome.isStopped);
  if (readEvents) return { ...outcome.answer, body: undefined };
  return { ...outcome.answer, ...bodyOf(outcome.answer, chunks, read, io) };
}

const isSuccess = (status: number) => status >= 200 && status < 300;
const isRedirect = ({ status, header }: Answer) =>
  status >= 300 && status < 400 && Boolean(header("location"));

const tooLarge = ({ status }: Answer, limit: number) =>
  new ProviderFault("failed", "attempted", `The provider's answer is larger than ${limit} bytes.`, {
    status,
    concerns: "request",
  });

function bodyOf(
  { status, header }: Answer,
  chunks: Buffer[],
  read: "json" | "bytes",
  io: HttpIo,
): Pick<HttpReply, "body" | "hadCredential"> {
  if (read === "bytes" && !isEncoded(header)) return { body: Buffer.concat(chunks) };
  const { json, hadCredential } = isEncoded(header) ? {} : parseJson(chunks, io);
  if (json !== undefined) return { body: json, hadCredential };
  throw new ProviderFault("failed", "attempted", "The provider's answer is not JSON.", {
    status,
    ...requestId(header, io),
    concerns: "request",
  });
}

/** An error's body: what it says in JSON, else its text where it is one. */
function errorBody({ header }: Answer, chunks: Buffer[], io: HttpIo): unknown {
  if (isEncoded(header)) return undefined;
  const text = Buffer.concat(chunks).toString("utf8");
  // What begins as JSON and is none was cut off.
  return parseJson(chunks, io).json ?? (/^\s*[{[]/.test(text) ? undefined : text);
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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEncoded(header: Answer["header"]): boolean {
  const encoding = header("content-encoding");
  return encoding !== null && encoding !== "" && encoding !== "identity";
}

/** What an answer says in JSON; nothing for what is no JSON: the parser's own error is dropped, since it quotes the text. */
function parseJson(chunks: Buffer[], io: HttpIo): { json?: unknown; hadCredential?: boolean } {
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  try {
    const text = bytes.toString("utf8");
    const json: unknown = JSON.parse(text);
    // Letters may be written as escapes.
    const plain = text.includes("\\") ? JSON.stringify(json) : text;
    const clean = redactJson(plain, io.credentials);
    return clean === plain ? { json } : { json: JSON.parse(clean), hadCredential: true };
  } catch {
    return {};
  }
}
