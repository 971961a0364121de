import type { ErrorCode } from "@/server/platform/errors/errors";

/* Cases of the corpus of odd servers: each has a server's response and the expected outcome. */

/** The interface that a server speaks. */
export type Dialect = "chat" | "responses" | "messages" | "gemini";

/** A piece of an answer, a pause in milliseconds, or an abrupt end of the connection. */
export type Piece = string | Uint8Array | { pauseMs: number } | "reset";

/** One response on the wire. */
export type Answer = {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. Pieces are written separately. */
  body: object | readonly Piece[];
};

/** The expected outcome of an answer. The defaults describe a charged result. */
export type Expected = {
  /** The text of the answer, or the text that was delivered before a failure. */
  text?: string;
  /** The text is a refusal, and OpenAI's endpoints return it as one. */
  isRefusal?: boolean;
  calls?: { id?: string; name: string; arguments: string; opaque?: Record<string, unknown> }[];
  /** All opaque members of the message. */
  opaque?: Record<string, unknown>;
  finish?: "stop" | "length" | "tool_calls" | "content_filter";
  /** The error of a failure; absent if the execution succeeds. */
  fails?: ErrorCode | undefined;
  /** The submission state, by default `attempted`. */
  submission?: "attempted" | "ambiguous";
  /** The end of the hold, by default `settled`. */
  hold?: "settled" | "released" | "ambiguous";
  /** The provider's cost at list price in micros; null if it is unknown, absent if the case does not check it. */
  cost?: number | null;
  /** The least provider cost, in micros. */
  atLeast?: number | undefined;
  /** The cost that the provider itself reports, in micros. */
  reportedMicros?: number;
  /** On a managed account with an unknown cost the whole hold is charged. */
  chargesHold?: boolean;
  /** On a managed account the usage can exceed what the hold covers; the caller is charged at most the hold. */
  exceedsHold?: boolean;
  /** The cost is an estimate of ours. */
  isEstimated?: boolean;
  /** True if the request may be retried under a new key; false by default. */
  isSafe?: boolean;
  /** The vendor's own message, as the caller of an own account reads it. */
  said?: { code: string | null; message: string | null };
  /** The status of a synchronous response. By default 200, and unchecked for a failure. */
  status?: number;
  /** The wait that the response asks of the caller. */
  retryAfterSeconds?: number;
  /** The raw finish reason of an answer that ended with an unknown one. */
  unknownFinish?: string;
  /** The body of the last request that the server received. */
  sent?: Sent;
};

/** Expected members of a request to a server: with these values (an object: at least), with any value, or absent. */
type Sent = { like?: object; has?: readonly string[]; lacks?: readonly string[] };

export type UpstreamCase = {
  /** A name in lower case with hyphens; also the id of the model that plays the case. */
  name: string;
  /** Public reports of servers that answer this way, or the standard or page that allows it. */
  from: readonly string[];
  dialect: Dialect;
  /** Members of the request in addition to the messages, as chat completions takes them. */
  request?: Record<string, unknown>;
  /** The response to a request without `stream`; absent if the case is only about streams. */
  whole?: Answer;
  /** The response to a request with `stream`. */
  streamed?: Answer;
  /** The response to the first of every two requests; the second gets the response above. */
  first?: Answer;
  /** Responses to requests that have all of these members; checked before the case's other responses. */
  refuses?: readonly { members: readonly string[]; answer: Answer }[];
  expect: Expected;
  /** Replaces `expect` if the answer is streamed. */
  ofStream?: Expected;
  /** Differences in the product's own envelope, which guarantees an object if a schema is sent. */
  ofEnvelope?: Expected;
  /** Differences on a managed account. */
  managed?: Expected;
  /** Differences if the answer is an object rather than text. */
  object?: Expected;
  /** Differences for a pinned execution, whose record requires other members. */
  pinned?: Expected;
  /** Differences for a durable job, which uses the flex tier of models that have one. */
  job?: Expected;
};

/** An event of a stream whose data is JSON or a text. */
export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

export const DONE = event("[DONE]");

/** An answer that is a stream of events. */
export const stream = (...body: Piece[]): Answer => ({
  headers: { "content-type": "text/event-stream" },
  body,
});

// ---- chat completions

/** Ten tokens in and five out: 20 micros at the prices of the cases, 1 and 2 dollars a million. */
export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
export const COST = 20;

/** A whole answer of chat completions; `usage: undefined` omits the usage. */
export const completion = (
  message: object,
  more: { finish?: unknown; [member: string]: unknown } = {},
): Answer => {
  const { finish = "stop", ...members } = more;
  return {
    body: {
      id: "chatcmpl-1",
      object: "chat.completion",
      model: "upstream-1",
      choices: [{ index: 0, finish_reason: finish, message: { role: "assistant", ...message } }],
      usage: USAGE,
      ...members,
    },
  };
};

/** One choice of a whole answer. */
export const choice = (message: object, finish: string, more: object = {}) => ({
  index: 0,
  finish_reason: finish,
  message: { role: "assistant", ...message },
  ...more,
});

/** A chunk of a streamed answer. */
export const chunk = (
  delta: object,
  { finish = null, ...more }: { finish?: unknown; [member: string]: unknown } = {},
): string =>
  event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "upstream-1",
    choices: [{ index: 0, finish_reason: finish, delta }],
    ...more,
  });

/** The last chunk of most servers, with the usage and without a choice. */
export const usageChunk = (usage: unknown = USAGE): string =>
  event({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "upstream-1", choices: [], usage });

// ---- errors

/** The same answer with and without `stream`. */
export const both = (answer: Answer) => ({ whole: answer, streamed: answer });
export const error = (status: number, body: object, headers: Record<string, string> = {}) =>
  both({ status, headers, body });
export const page = (status: number, ...body: string[]) =>
  both({ status, headers: { "content-type": "text/html" }, body });

type Said = NonNullable<Expected["said"]>;
export const said = (code: Said["code"], message: Said["message"]) => ({ said: { code, message } });
/** A definite refusal: nothing ran and nothing is charged. */
export const REFUSED: Expected = { fails: "ProviderRejected", hold: "released", isSafe: true };
/** The wait for capacity ended at once, because the provider asks for a longer one. */
export const FULL: Expected = { fails: "ProviderUnavailable", hold: "released", isSafe: true };
/** The request may have run, and the response reports neither a result nor a cost. */
export const FAILED: Expected = { fails: "PROVIDER_ERROR", hold: "released" };
