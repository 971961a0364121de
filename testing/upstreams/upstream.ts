import type { ErrorCode } from "@/server/platform/errors/errors";

/* Cases of the corpus of odd servers: each says what a server answers and what must come out of it. */

/** The interface that a server speaks. */
export type Dialect = "chat" | "responses" | "messages" | "gemini";

/** A piece of an answer, a pause in milliseconds, or the end of the connection without a word. */
export type Piece = string | Uint8Array | { pauseMs: number } | "reset";

/** One answer as it goes over the wire. */
export type Answer = {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. Each piece is written by itself. */
  body: object | readonly Piece[];
};

/** What must come out of an answer. The defaults are those of a charged result. */
export type Expected = {
  /** The text of the answer; of a failure, what was delivered before it. */
  text?: string;
  /** The text is a refusal, and the doors show it as one. */
  isRefusal?: boolean;
  calls?: { id?: string; name: string; arguments: string; opaque?: Record<string, unknown> }[];
  /** The opaque members of the message, all of them. */
  opaque?: Record<string, unknown>;
  finish?: "stop" | "length" | "tool_calls" | "content_filter";
  /** The error of a failure; absent: the execution succeeds. */
  fails?: ErrorCode | undefined;
  /** Default `attempted`. */
  submission?: "attempted" | "ambiguous";
  /** How the money ends; default `settled`. */
  hold?: "settled" | "released" | "ambiguous";
  /** The provider's cost at list price in micros; null: unknown. Default null for a failure that is not settled. */
  cost?: number | null;
  /** The provider's cost is at least this, in micros. */
  atLeast?: number | undefined;
  /** What the provider itself says that it costs, in micros. */
  reportedMicros?: number;
  /** Of a managed account with an unknown cost: the whole reservation is charged. */
  chargesHold?: boolean;
  /** Of a managed account: more may be reported than so short a request can use; beyond its hold the caller is charged nothing. */
  exceedsHold?: boolean;
  /** The cost is an estimate of ours. */
  isEstimated?: boolean;
  /** May the request be sent again under a new key? Default false. */
  isSafe?: boolean;
  /** The vendor's own words, as the caller of an own account reads them. */
  said?: { code: string | null; message: string | null };
  /** The status of a synchronous answer at the doors; default 200, or that of the error. */
  status?: number;
  /** How long the caller is asked to wait. */
  retryAfterSeconds?: number;
  /** The raw word of an answer that ended with an unknown reason. */
  unknownFinish?: string;
  /** The body of the last request that the server received. */
  sent?: Sent;
};

/** What a request to a server says: members it has with these values (an object: at least), has with any, or lacks. */
type Sent = { like?: object; has?: readonly string[]; lacks?: readonly string[] };

export type UpstreamCase = {
  /** Lower case with hyphens: also the id of the model that plays it. */
  name: string;
  /** Public reports of servers that answer so, or the standard or page that allows it. */
  from: readonly string[];
  dialect: Dialect;
  /** Members of the request beside the messages, as the chat door takes them. */
  request?: Record<string, unknown>;
  /** The answer to a request without `stream`; absent: the case is about streams alone. */
  whole?: Answer;
  /** The answer to a request with `stream`. */
  streamed?: Answer;
  /** The answer to the first of every two requests: what follows is sent to the second. */
  first?: Answer;
  /** The answer to a request with a member, or with all of several, before any other is looked for. */
  refuses?: readonly { members: readonly string[]; answer: Answer }[];
  expect: Expected;
  /** In place of `expect` when the answer is streamed. */
  ofStream?: Expected;
  /** What is different of a form in the product's own envelope, which promises an object where a schema is given. */
  ofEnvelope?: Expected;
  /** What is different on a managed account. */
  managed?: Expected;
  /** What is different where the answer is an object, not text. */
  object?: Expected;
  /** What is different of a pinned execution, where its record requires other words. */
  pinned?: Expected;
  /** What is different of a durable job: of models that have it, its work waits for the cheaper tier. */
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

/** A whole answer of chat completions; `usage: undefined` leaves the usage out. */
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

/** The last chunk of most servers: the usage without a choice. */
export const usageChunk = (usage: unknown = USAGE): string =>
  event({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "upstream-1", choices: [], usage });

// ---- errors

/** The same answer whether or not a stream was asked for. */
export const both = (answer: Answer) => ({ whole: answer, streamed: answer });
export const error = (status: number, body: object, headers: Record<string, string> = {}) =>
  both({ status, headers, body });
export const page = (status: number, ...body: string[]) =>
  both({ status, headers: { "content-type": "text/html" }, body });

type Said = NonNullable<Expected["said"]>;
export const said = (code: Said["code"], message: Said["message"]) => ({ said: { code, message } });
/** A definite no: nothing ran and nothing is charged. */
export const REFUSED: Expected = { fails: "ProviderRejected", hold: "released", isSafe: true };
/** The wait for capacity ended at once, since the provider asks for a longer one. */
export const FULL: Expected = { fails: "ProviderUnavailable", hold: "released", isSafe: true };
/** It may have worked, and says neither what it did nor what that costs. */
export const FAILED: Expected = { fails: "PROVIDER_ERROR", hold: "released" };
