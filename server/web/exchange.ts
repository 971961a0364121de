import type { IncomingMessage, ServerResponse } from "node:http";
import { incompleteBody, whole } from "@/server/api/body";
import { headerLines } from "@/server/api/header-lines";
import { announcesBody, type BodyStream, type Incoming, type Outgoing } from "@/server/api/transport";
import { clientAddress } from "@/server/platform/client-address";
import { log } from "@/server/platform/log/log";
import type { Deadline } from "./deadlines";

/**
 * A request as the API kernel sees it; its body has a deadline if one is given. Values that an endpoint may not need are made
 * only on demand. This is a class and not a literal with getters, because V8 keeps the getters of a literal among the old
 * objects, where each of them holds on to its whole request until the next full collection.
 */
export class HttpIncoming implements Incoming {
  readonly method: string;
  readonly path: string;
  readonly body: BodyStream | null;
  params: Record<string, string> = {};
  private readonly search: string;
  private parsedQuery: URLSearchParams | undefined;
  private ownSignal: AbortSignal | undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    deadline: Deadline | null,
  ) {
    const target = request.url ?? "/";
    const cut = target.indexOf("?");
    this.method = request.method ?? "GET";
    this.path = cut === -1 ? target : target.slice(0, cut);
    this.search = cut === -1 ? "" : target.slice(cut + 1);
    this.body = deadline && bodyOf(request, deadline);
  }

  get query(): URLSearchParams {
    this.parsedQuery ??= new URLSearchParams(this.search);
    return this.parsedQuery;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "string" ? value : value?.join(", ");
  }

  lines(name: string): string[] {
    return headerLines(this.request, name);
  }

  get address(): string {
    const forwarded = this.request.headers["x-forwarded-for"];
    return clientAddress(
      typeof forwarded === "string" ? forwarded : forwarded?.join(","),
      this.request.socket.remoteAddress ?? "",
    );
  }

  get signal(): AbortSignal {
    this.ownSignal ??= signalOf(this.response);
    return this.ownSignal;
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return announcesBody(headers["transfer-encoding"], headers["content-length"]);
}

function bodyOf(request: IncomingMessage, deadline: Deadline): BodyStream {
  return {
    // Leaving the loop early must not tear down the connection that the answer goes through.
    [Symbol.asyncIterator]: () => whole(request.iterator({ destroyOnReturn: false })),
    collect: (limit) => collect(request, limit),
    allow: (ms) => deadline.allow(ms),
  };
}

/**
 * Declared length from which a body is read into one buffer: collecting its chunks and then joining them
 * would take twice the memory.
 */
const LARGE_BYTES = 1024 * 1024;

/**
 * Reads the whole body; null as soon as it is longer than `limit`. Rejects if the body breaks off. Cheaper than a loop over an
 * iterator.
 */
function collect(request: IncomingMessage, limit: number): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let length = 0;
    const declared = Number(request.headers["content-length"]);
    // Memory costs nothing until it is written to, so a large declared length whose bytes never arrive is
    // free.
    const whole = declared >= LARGE_BYTES && declared <= limit ? Buffer.allocUnsafe(declared) : null;
    let isDone = false;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        isDone = true;
        request.off("data", onData);
        request.pause();
        resolve(null);
      } else if (whole) {
        // The parser of HTTP ends a body at its declared length, so every piece fits.
        chunk.copy(whole, length - chunk.length);
      } else if (!first) first = chunk;
      else if (more) more.push(chunk);
      else more = [first, chunk];
    };
    request.on("data", onData);
    request.on("end", () => {
      isDone = true;
      resolve(whole ?? (more ? Buffer.concat(more, length) : (first ?? NOTHING)));
    });
    // `close` always comes last. The error is made only if it is needed, because its stack is expensive.
    request.on("close", () => {
      if (!isDone) reject(incompleteBody());
    });
  });
}

const NOTHING = Buffer.alloc(0);

function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else {
    response.once("close", () => {
      if (!response.writableFinished) controller.abort();
    });
  }
  return controller.signal;
}

/** Time in which a caller may go on sending a body that no one reads, after its answer was sent. */
const LINGER_MS = 1_000;

/** Sends an answer. A stream is read as fast as the caller takes it, and ended when the caller leaves. */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  outgoing: Outgoing,
): Promise<void> {
  const { status, headers, body } = outgoing;
  if (response.destroyed) return endStream(body);
  const hasUnreadBody = !request.complete && hasBody(request);
  if (hasUnreadBody) headers.connection = "close";
  if (typeof body === "string" || body instanceof Uint8Array) {
    headers["content-length"] ??= String(
      typeof body === "string" ? Buffer.byteLength(body) : body.byteLength,
    );
    response.writeHead(status, headers);
    if (!hasUnreadBody) return void response.end(body);
    response.write(body);
  } else if (body === null) {
    if (status !== 204 && status !== 304 && request.method !== "HEAD") headers["content-length"] ??= "0";
    response.writeHead(status, headers);
    if (!hasUnreadBody) return void response.end();
    response.flushHeaders();
  } else {
    response.writeHead(status, headers);
    if (!(await pour(body, response))) return;
    if (!hasUnreadBody) return void response.end();
  }
  linger(request, response);
}

/** Writes a stream; true if the answer is complete. */
async function pour(body: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<boolean> {
  try {
    for await (const chunk of body) {
      if (response.destroyed) return false;
      if (!response.write(chunk)) await drained(response);
    }
    return true;
  } catch (error) {
    if (!response.destroyed) log.warn({ err: error }, "a response ended early");
    response.destroy(); // the caller must not take a part for the whole
    return false;
  }
}

/** Resolves when more can be written, or when no one is there to read it. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

async function endStream(body: Outgoing["body"]): Promise<void> {
  if (body === null || typeof body === "string" || body instanceof Uint8Array) return;
  await body[Symbol.asyncIterator]().return?.();
}

/**
 * Lets the whole answer arrive before the connection is closed under a body that is still arriving. Ending the response would
 * close the connection at once, and a caller that writes to a closed connection never reads the answer.
 */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(timer);
    if (!response.writableEnded) response.end();
  };
  const timer = setTimeout(() => {
    end();
    request.socket.destroySoon();
  }, LINGER_MS);
  request.once("end", end);
  request.once("close", end);
  request.resume();
}
