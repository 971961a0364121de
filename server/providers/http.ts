import type { z } from "zod";
import { exchange, type HttpAnswer } from "@/server/platform/http";
import { collectBody, type HttpIo, type HttpReply, isSuccess, parseRedacted } from "./bodies";
import { errorIn } from "./ends";
import {
  type Explain,
  faultOfAnswer,
  faultOfSaid,
  lost,
  safeWord,
  stoppedBeforeSending,
  unreachable,
  unreadable,
} from "./faults";
import { providerOrigin } from "./origins";
import type { EventWish, ServerEvent } from "./server-events";

/*
 * The HTTP client of providers. One call is one request, and every call without a result throws a `ProviderFault` that
 * tells whether the request left.
 */

export type { HttpIo, HttpReply } from "./bodies";
export type { Explanation } from "./faults";
export { safeWord };

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** The authorization header that most vendors expect. */
export const bearer = ({ credentials }: Pick<HttpIo, "credentials">) => ({
  authorization: `Bearer ${credentials.apiKey?.reveal() ?? ""}`,
});

/** An answer that is a file. */
export type FileReply = Omit<HttpReply, "body"> & {
  bytes: Uint8Array;
  /** The server's media type, in lower case and without parameters; empty if it names none. */
  mediaType: string;
};

/** Options of every request. */
export type HttpOptions = {
  headers: Record<string, string>;
  /** Larger answers are cut off and fail. The default is 64 MiB. */
  maxResponseBytes?: number;
  explain?: Explain;
};

type Posted = HttpOptions & {
  body: unknown;
  /**
   * Receives each event of an answer in server-sent events and returns whether the answer is complete (`EventWish`). A
   * `ProviderFault` or `ReportedError` that it throws ends the call; an answer that breaks off is lost, whatever
   * arrived before. The reply to an answer in events has no body. Without `onEvent`, an answer in events is an error.
   */
  onEvent?: (event: ServerEvent) => EventWish;
};

/**
 * Sends JSON and reads a JSON answer of status 2xx; anything else throws a `ProviderFault`. With `onEvent` it also
 * accepts events, because some servers stream without being asked.
 */
export const postJson = (
  io: HttpIo,
  path: string,
  { body, headers, ...options }: Posted,
): Promise<HttpReply> =>
  call(io, {
    ...options,
    method: "POST",
    path,
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

/** Like `postJson`, for a request for a stream; a server that does not stream can still answer with JSON. */
export const postForEvents = (
  io: HttpIo,
  path: string,
  { headers, ...posted }: Posted & Required<Pick<Posted, "onEvent">>,
): Promise<HttpReply> =>
  postJson(io, path, { ...posted, headers: { accept: "text/event-stream, application/json", ...headers } });

/** Sends bytes of the given media type (such as multipart forms) and reads JSON; otherwise like `postJson`. */
export const postBytes = (
  io: HttpIo,
  path: string,
  { mediaType, headers, ...sent }: HttpOptions & { body: Uint8Array; mediaType: string },
): Promise<HttpReply> =>
  call(io, { ...sent, method: "POST", path, headers: { "content-type": mediaType, ...headers } });

/** Sends a GET request and reads JSON; otherwise like `postJson`. */
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
  return toFileReply(reply);
}

/** Reads an answer as a file. */
export const toFileReply = ({ body, ...reply }: HttpReply): FileReply => ({
  ...reply,
  bytes: body instanceof Uint8Array ? body : new Uint8Array(), // bytes, since the request had read: "bytes"
  mediaType: (reply.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "",
});

/** The JSON in a file; undefined if it is not JSON. */
export const jsonOf = ({ bytes }: FileReply, io: HttpIo): unknown =>
  parseRedacted([Buffer.from(bytes)], io).json;

/**
 * Validates an answer's body. Throws for another shape: the error that the body reports, or else an unreadable answer.
 */
export function parseReply<T>(schema: z.ZodType<T>, reply: HttpReply, io: HttpIo): T {
  const parsed = schema.safeParse(reply.body);
  if (parsed.success) return parsed.data;
  const said = errorIn(reply.body);
  if (said) throw faultOfSaid(said, reply, io, {});
  // Only paths, because values are the provider's.
  const paths = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
  throw unreadable(reply, io, new Error(`unexpected at ${paths}`));
}

/** Like `parseReply`, for endpoints that report errors with status 200; `explain` interprets their codes. */
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
  /** Returns redirects to the caller; by default they are errors. */
  redirects?: boolean;
};

/**
 * Sends one request to the provider's server and reads its answer. Throws `ProviderFault` for anything but a success,
 * or a redirect if `redirects` is set.
 */
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
  const { origin, prefix, search, pool } = providerOrigin(io);
  const taken = collectBody(io, { limit, explain, onEvent });
  const outcome = await exchange(
    {
      pool,
      origin,
      path: prefix + path + search,
      method,
      headers: { accept: "application/json", ...headers },
      body,
      signal: io.signal,
      decodes: true,
    },
    taken.reader,
  );

  const { verdict } = taken.so;
  if (verdict) throw verdict;
  if (outcome.state === "unsent")
    throw outcome.isStopped ? stoppedBeforeSending() : unreachable(outcome.error);
  const { answer } = outcome;
  // The status line alone counts as an answer: a definite error stays one if its body is cut or too long.
  const isError = answer !== null && !isSuccess(answer.status);
  if (outcome.state === "answered" && redirects && isRedirect(outcome.answer))
    return { ...outcome.answer, body: undefined };
  if (isError) throw faultOfAnswer(answer, taken.errorBody(answer), io, explain);
  if (outcome.state === "lost") throw lost(outcome.error, outcome.isStopped);
  return { ...outcome.answer, ...taken.body(outcome.answer, read) };
}

const isRedirect = ({ status, header }: HttpAnswer) =>
  status >= 300 && status < 400 && Boolean(header("location"));
