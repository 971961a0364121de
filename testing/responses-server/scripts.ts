import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { Request, Script } from "./server";

/* Scripts of the Responses protocol's server, for good and bad responses. */

export const TEXT = "Cod, a fish of cold seas.";
export const USAGE = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 60,
};

const message = (text: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** A whole response of the protocol; `undefined` removes a member. */
export const response = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: "resp_0a1b2c",
  object: "response",
  created_at: 1_790_000_000,
  status: "completed",
  model: "gpt-5.6-luna-2026-06-26",
  service_tier: "default",
  output: [message(TEXT)],
  usage: USAGE,
  error: null,
  incomplete_details: null,
  ...more,
});

// ---- bytes of HTTP

type Headers = Record<string, string>;

const head = (status: string, headers: Headers) =>
  `HTTP/1.1 ${status}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

/** A whole HTTP response with its length. */
export const http = (status: string, body: string | Buffer, headers: Headers = {}): Buffer => {
  const bytes = Buffer.from(body);
  const all = { "content-type": "application/json", "content-length": String(bytes.byteLength), ...headers };
  return Buffer.concat([Buffer.from(head(status, all)), bytes]);
};

const ok = (more: Record<string, unknown> = {}, headers: Headers = {}) =>
  http("200 OK", JSON.stringify(response(more)), headers);
const WHOLE = JSON.stringify(response());
const HEAD = head("200 OK", { "content-type": "application/json", "content-length": String(WHOLE.length) });

const problem = (code: string, message = "As was asked for.") =>
  JSON.stringify({ error: { message, type: code, code } });

// ---- scripts

type Answer = string | Buffer | ((request: Request) => string | Buffer);
const bytesOf = (answer: Answer, request: Request) =>
  typeof answer === "function" ? answer(request) : answer;

/** Sends these responses in turn, the last one for all later requests, and keeps the connection. */
export const says = (...answers: Answer[]): Script => ({
  answer: (socket, request) => {
    const answer = answers[Math.min(request.turn, answers.length) - 1];
    if (answer !== undefined) socket.write(bytesOf(answer, request));
  },
});

/** Sends this response, then ends the connection. */
const saysAndEnds = (answer: Answer): Script => ({
  answer: (socket, request) => void socket.end(bytesOf(answer, request)),
});

/** Sends this response, then resets the connection. */
const saysAndResets = (answer: Answer): Script => ({
  answer: (socket, request) => {
    socket.write(bytesOf(answer, request), () => setTimeout(() => socket.resetAndDestroy(), 5));
  },
});

/** Refuses for lack of capacity this many times, then answers. */
const fullFor = (times: number, refusal: Buffer, then: Buffer = ok()): Script =>
  says(...Array.from({ length: times }, () => refusal), then);

const busy = (headers: Headers = {}) =>
  http("429 Too Many Requests", problem("rate_limit_exceeded"), { "retry-after-ms": "20", ...headers });
const overloaded = http("503 Service Unavailable", problem("overloaded_error"), { "retry-after-ms": "20" });

const closes = (socket: Socket) => {
  socket.destroy();
  return true;
};

/** Writes a piece repeatedly, as fast as the other side reads, until the connection closes. */
function floods(socket: Socket, piece: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece)) {
      // writes until the buffer is full
    }
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const CHUNKED = head("200 OK", { "content-type": "application/json", "transfer-encoding": "chunked" });
const bearer = ({ headers }: Request) => headers.authorization ?? "";

/** Named scripts: where a connection breaks, or what a response lacks. */
export const SCRIPTS = {
  answers: says(ok()),

  // The request does not arrive, or not whole.
  "accepts and closes": { onConnect: (socket) => socket.destroy() },
  "speaks no HTTP": { onConnect: (socket) => socket.write("SSH-2.0-OpenSSH_9.9\r\n") },
  "closes after the head of the request": { onHead: closes },
  "reads half of the body and resets": {
    onHalf: (socket) => {
      socket.resetAndDestroy();
      return true;
    },
  },
  "reads everything and closes": { answer: (socket) => void socket.destroy() },
  "reads everything and ends": { answer: (socket) => void socket.end() },
  "reads everything and resets": { answer: (socket) => void socket.resetAndDestroy() },
  "reads everything and is silent": {},
  "answers before the body is there": {
    onHead: (socket) => {
      socket.end(http("400 Bad Request", problem("invalid_request_error")));
      return true;
    },
  },

  // The response breaks off.
  "status line cut": saysAndEnds("HTTP/1.1 20"),
  "headers cut": saysAndEnds("HTTP/1.1 200 OK\r\ncontent-type: appl"),
  "headers, then silence": says(HEAD),
  "headers, then the end": saysAndEnds(HEAD),
  "body cut after one byte": saysAndEnds(HEAD + WHOLE.slice(0, 1)),
  "body cut in the middle": saysAndEnds(HEAD + WHOLE.slice(0, WHOLE.length / 2)),
  "body cut before its last byte": saysAndEnds(HEAD + WHOLE.slice(0, -1)),
  "body cut by a reset": saysAndResets(HEAD + WHOLE.slice(0, -1)),
  "half a body, then silence": says(HEAD + WHOLE.slice(0, WHOLE.length / 2)),
  "chunks without an end": saysAndEnds(CHUNKED + chunk(WHOLE)),
  "chunks, then silence": says(CHUNKED + chunk(WHOLE)),
  "a chunk of no size": saysAndEnds(`${CHUNKED}zz\r\n${WHOLE}\r\n0\r\n\r\n`),
  "a length too long": saysAndEnds(http("200 OK", WHOLE, { "content-length": String(WHOLE.length + 10) })),
  "a length too short": saysAndEnds(http("200 OK", WHOLE, { "content-length": String(WHOLE.length - 10) })),
  "two lengths": saysAndEnds(
    `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: ${WHOLE.length}\r\n\r\n${WHOLE}`,
  ),
  "another protocol": saysAndEnds(
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
  ),
  "headers without an end": {
    answer: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      floods(socket, `x-more: ${"x".repeat(1_000)}\r\n`);
    },
  },
  "a body without an end": {
    answer: (socket) => {
      socket.write(CHUNKED);
      floods(socket, chunk(" ".repeat(256 * 1024)));
    },
  },

  // Whole responses in unusual forms.
  chunks: says(`${CHUNKED}${chunk(WHOLE.slice(0, 9))}${chunk(WHOLE.slice(9))}0\r\n\r\n`),
  "no length, ended by closing": saysAndEnds(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${WHOLE}`,
  ),
  "100 before the answer": says(`HTTP/1.1 100 Continue\r\n\r\n${ok()}`),
  "100 twenty times": says(`${"HTTP/1.1 100 Continue\r\n\r\n".repeat(20)}${ok()}`),
  "hints before the answer": says(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok()}`),
  "dropped after the answer": saysAndResets(ok()),
  "two answers to one request": says(Buffer.concat([ok(), ok({ id: "resp_ghost", model: "ghost" })])),

  // The server has no capacity, or the account has no credit.
  "429 once": fullFor(1, busy()),
  "429 twice": fullFor(2, busy()),
  "429 three times": fullFor(3, busy()),
  "429 ten times": fullFor(10, busy()),
  "429 with retry-after": fullFor(1, busy({ "retry-after-ms": "", "retry-after": "2" })),
  "429 for ever": says(busy()),
  "429 cut in its body": saysAndEnds(
    `${head("429 Too Many Requests", { "content-length": "500", "retry-after-ms": "20" })}{"err`,
  ),
  "503 overloaded once": fullFor(1, overloaded),
  "529 once": fullFor(1, http("529 Overloaded", "{}", { "retry-after-ms": "20" })),
  "429, then a reset": {
    answer: (socket, { turn }) => void (turn === 1 ? socket.write(busy()) : socket.resetAndDestroy()),
  },
  "429, then 400": says(busy(), http("400 Bad Request", problem("invalid_request_error"))),
  "429 for want of credit": says(http("429 Too Many Requests", problem("insufficient_quota"))),

  // Definite refusals.
  "400": says(http("400 Bad Request", problem("invalid_request_error"))),
  "401": says(http("401 Unauthorized", problem("invalid_api_key"))),
  "403": says(http("403 Forbidden", problem("permission_denied"))),
  "404": says(http("404 Not Found", problem("model_not_found"))),
  "413": says(http("413 Content Too Large", problem("too_large"))),
  "422": says(http("422 Unprocessable Content", problem("invalid_value"))),
  "400 without JSON": says(http("400 Bad Request", "no")),
  "400 cut in its body": saysAndEnds(`${head("400 Bad Request", { "content-length": "500" })}{"err`),

  // Failures and invalid responses.
  "500": says(http("500 Internal Server Error", problem("server_error"))),
  "502 in HTML": says(http("502 Bad Gateway", "<html>Bad gateway</html>", { "content-type": "text/html" })),
  "503 without a word": says(http("503 Service Unavailable", "{}")),
  "504": says(http("504 Gateway Timeout", "")),
  "408": says(http("408 Request Timeout", problem("timeout"))),
  "a redirect to a metadata address": says(
    http("302 Found", "", { location: "http://169.254.169.254/latest/meta-data/" }),
  ),
  "307 to itself": says(http("307 Temporary Redirect", "", { location: "/responses" })),
  "a gzip bomb": says(
    http("200 OK", gzipSync(Buffer.alloc(32 * 1024 * 1024, 0x20)), { "content-encoding": "gzip" }),
  ),
  "204": says("HTTP/1.1 204 No Content\r\n\r\n"),
  "an empty body": says(http("200 OK", "")),
  "bad JSON": says(http("200 OK", WHOLE.slice(0, -2))),
  "JSON that is null": says(http("200 OK", "null")),
  "JSON of another shape": says(
    http("200 OK", JSON.stringify({ choices: [{ message: { content: TEXT } }] })),
  ),
  "no usage": says(ok({ usage: undefined })),
  "no figures in the usage": says(ok({ usage: {} })),
  "usage below zero": says(ok({ usage: { ...USAGE, output_tokens: -5 } })),
  "no model": says(ok({ model: undefined })),
  "no id": says(ok({ id: undefined })),
  "status failed": says(ok({ status: "failed", output: [], error: { code: "server_error" } })),
  "status failed, nothing counted": says(
    ok({ status: "failed", output: [], usage: null, error: { code: "server_error" } }),
  ),
  "status cancelled": says(ok({ status: "cancelled", output: [] })),
  "repeats the key in an error": says((request) =>
    http("400 Bad Request", problem(bearer(request), `Not good: ${bearer(request)}`), {
      "x-request-id": bearer(request).replace("Bearer ", ""),
    }),
  ),
  "repeats the key in an answer": says((request) => ok({ output: [message(bearer(request))] })),
  "repeats the key as its id": says((request) =>
    ok({ id: bearer(request).replace("Bearer ", ""), model: bearer(request).replace("Bearer ", "") }),
  ),

  // Responses with unusual content.
  "empty text": says(ok({ output: [message("")] })),
  "reasoning and no text": says(
    ok({ output: [{ type: "reasoning", id: "rs_1", summary: [] }], status: "incomplete" }),
  ),
  "a tool call": says(
    ok({ output: [{ type: "function_call", call_id: "call_1", name: "find", arguments: '{"fish":"cod"}' }] }),
  ),
  "a refusal": says(
    ok({ output: [{ ...message(""), content: [{ type: "refusal", refusal: "I cannot help with that." }] }] }),
  ),
  "cut by max_output_tokens": says(
    ok({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
  ),
  "cut by a content filter": says(
    ok({ status: "incomplete", incomplete_details: { reason: "content_filter" } }),
  ),
  "a large answer": says(ok({ metadata: { note: "x".repeat(4 * 1024 * 1024) } })),
  "usage above the hold": says(
    ok({ usage: { ...USAGE, input_tokens: 90_000_000, output_tokens: 90_000_000 } }),
  ),

  // Responses to the flex tier.
  "400 on flex": {
    answer: (socket, { body }) =>
      void socket.write(
        body.includes('"service_tier":"flex"')
          ? http("400 Bad Request", problem("invalid_request_error", "Flex is not available."))
          : ok(),
      ),
  },
  "flex full once": fullFor(1, busy(), ok({ service_tier: "flex" })),
  "flex served as flex": says(ok({ service_tier: "flex" })),
  "flex served as default": says(ok({ service_tier: "default" })),
} satisfies Record<string, Script>;
export type ScriptName = keyof typeof SCRIPTS;
