import { lookup as resolve } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { type Dispatcher, Pool } from "undici";
import type { z } from "zod";
import { type FaultKind, ProviderFault, type ProviderIo } from "@/server/providers/define";
import { eventReader, type ServerEvent } from "./server-events";

/*
 * The only importer of an HTTP client. One call is one request: no retry, no redirect, no pipelining, no timeout
 * but the caller's signal. What it promises above all: `not_attempted` is said only when nothing can have left.
 */

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 256;
const MAX_POOLS = 256;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const HANG_UP_MS = 5_000;
const MAX_RETRY_AFTER_MS = 3_600_000;
/** How the operator allows what is refused without it. */
const ALLOW = "For a server on your own network: ALLOW_PRIVATE_ADDRESSES=1.";
const PRIVATE_REFUSED = `The provider's address is private, and private addresses are not allowed. ${ALLOW}`;

/** What a call needs of `ProviderIo`. */
export type HttpIo = Pick<ProviderIo, "baseUrl" | "credentials" | "signal" | "allowPrivateAddresses">;

export type HttpReply = {
  status: number;
  /** The parsed JSON body; parse it with a schema before use. */
  body: unknown;
  header(name: string): string | null;
};

/** What a provider may say about its vendor's error answers; the words must be its own, never the vendor's. */
export type Explanation = { kind?: FaultKind; message?: string };

/** An answer that is a file. */
export type FileReply = Omit<HttpReply, "body"> & {
  bytes: Uint8Array;
  /** As the server names it, in lower case and without parameters; empty where it does not. */
  mediaType: string;
};

export type HttpOptions = {
  /** Larger answers are cut off and fail. Default 64 MiB. */
  maxResponseBytes?: number;
  explain?(answer: { status: number; body: unknown }): Explanation | undefined;
};

/** Sends JSON and reads a JSON answer of status 2xx; everything else is a `ProviderFault`. */
export function postJson(
  path: string,
  body: unknown,
  headers: Record<string, string>,
  io: HttpIo,
  options: HttpOptions = {},
): Promise<HttpReply> {
  return exchange(
    "POST",
    path,
    JSON.stringify(body),
    { "content-type": "application/json", ...headers },
    io,
    options,
  );
}

/**
 * Sends JSON and reads an answer that comes as server-sent events, each told to `onEvent` as it comes; `true` from it
 * says that was the last one, a `ProviderFault` it throws ends the call. The reply has no body then; a server that
 * answers with JSON instead is read as by `postJson`. An answer that breaks off is lost, whatever was told before.
 */
export function postForEvents(
  path: string,
  body: unknown,
  headers: Record<string, string>,
  io: HttpIo,
  onEvent: (event: ServerEvent) => boolean,
  options: HttpOptions = {},
): Promise<HttpReply> {
  return exchange(
    "POST",
    path,
    JSON.stringify(body),
    { accept: "text/event-stream, application/json", "content-type": "application/json", ...headers },
    io,
    options,
    { onEvent },
  );
}

/** Sends bytes of the given media type (multipart forms) and reads JSON; otherwise like `postJson`. */
export function postBytes(
  path: string,
  body: Uint8Array,
  mediaType: string,
  headers: Record<string, string>,
  io: HttpIo,
  options: HttpOptions = {},
): Promise<HttpReply> {
  return exchange("POST", path, body, { "content-type": mediaType, ...headers }, io, options);
}

/** Reads JSON, for polling; otherwise like `postJson`. */
export function getJson(
  path: string,
  headers: Record<string, string>,
  io: HttpIo,
  options: HttpOptions = {},
): Promise<HttpReply> {
  return exchange("GET", path, null, headers, io, options);
}

/** Sends JSON and reads an answer that is a file; otherwise like `postJson`. */
export async function postForFile(
  path: string,
  body: unknown,
  headers: Record<string, string>,
  io: HttpIo,
  options: HttpOptions = {},
): Promise<FileReply> {
  const reply = await exchange(
    "POST",
    path,
    JSON.stringify(body),
    { accept: "*/*", "content-type": "application/json", ...headers },
    io,
    options,
    { read: "bytes" },
  );
  return toFile(reply);
}

const MAX_REDIRECTS = 3;

/**
 * Fetches a file a provider has made, from wherever it says the file lies: https only, public addresses only (checked at
 * each redirect, of which there may be three), and never with a credential. The work is done and paid for, so whatever may
 * pass is `lost` (ask again later); only a definite no is `failed`.
 */
export async function getFile(
  address: string,
  io: Pick<HttpIo, "signal" | "allowPrivateAddresses">,
  options: Pick<HttpOptions, "maxResponseBytes"> = {},
): Promise<FileReply> {
  let next = address;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const url = URL.canParse(next) ? new URL(next) : null;
    const { signal, allowPrivateAddresses } = io;
    // Looked at again at each hop: where a file may not be had from today, it may not be tomorrow.
    if (!url || refusalOfAddress(url, { allowHttp: allowPrivateAddresses, allowPrivateAddresses })) break;
    const from = { baseUrl: url.origin, credentials: {}, signal, allowPrivateAddresses };
    let reply: HttpReply;
    try {
      reply = await exchange("GET", url.pathname + url.search, null, { accept: "*/*" }, from, options, {
        read: "bytes",
        redirects: true,
      });
    } catch (cause) {
      throw cause instanceof ProviderFault ? asFileFault(cause) : cause;
    }
    const location = reply.header("location");
    if (isSuccess(reply.status) || !location) return toFile(reply);
    next = URL.canParse(location, url) ? new URL(location, url).href : "";
  }
  throw new ProviderFault(
    "failed",
    "attempted",
    "The provider's file is not at an address it can be had from.",
  );
}

/** A closed door, a full house and a broken connection say nothing of the file. */
function asFileFault({ kind, message, details }: ProviderFault): ProviderFault {
  const isDefinite = kind === "refused" || (kind === "failed" && (details.status ?? 0) < 500);
  return isDefinite
    ? new ProviderFault("failed", "attempted", "The file the provider names cannot be had.", details)
    : new ProviderFault("lost", "ambiguous", message, details);
}

const toFile = ({ body, ...reply }: HttpReply): FileReply => ({
  ...reply,
  bytes: body instanceof Uint8Array ? body : new Uint8Array(), // as it was asked to be read
  mediaType: (reply.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "",
});

/** Reads an answer of the expected shape; any other shape is a provider that failed. */
export function parseReply<T>(schema: z.ZodType<T>, reply: HttpReply, io: HttpIo): T {
  const parsed = schema.safeParse(reply.body);
  if (parsed.success) return parsed.data;
  // Paths only: values are the provider's.
  const paths = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new ProviderFault(
    "failed",
    "attempted",
    "The provider's answer does not have the shape its interface promises.",
    { status: reply.status, ...requestId(reply.header, io) },
    { cause: new Error(`unexpected at ${paths}`) },
  );
}

/**
 * A short word of the provider (request id, model name) that may be shown and stored; null when it is no such word
 * or carries any 12 characters of a credential.
 */
export function safeWord(value: string | null | undefined, io: Pick<HttpIo, "credentials">): string | null {
  if (!value || value.length > 200 || !/^[\w.:/@+=-]+$/.test(value)) return null;
  for (const credential of Object.values(io.credentials)) {
    const secret = credential.reveal();
    const window = Math.min(12, secret.length);
    if (window < 4 || value.length < window) continue;
    for (let start = 0; start + window <= secret.length; start += 1) {
      if (value.includes(secret.slice(start, start + window))) return null;
    }
  }
  return value;
}

// ---- one exchange

function exchange(
  method: "GET" | "POST",
  path: string,
  body: string | Uint8Array | null,
  headers: Record<string, string>,
  io: HttpIo,
  options: HttpOptions,
  {
    onEvent,
    read = "json",
    redirects = false,
  }: {
    onEvent?: (event: ServerEvent) => boolean;
    read?: "json" | "bytes";
    /** A redirect is an answer, for the caller to judge. */
    redirects?: boolean;
  } = {},
): Promise<HttpReply> {
  return new Promise((accept, reject) => {
    if (io.signal.aborted) return reject(stoppedBeforeSending());
    const origin = originOf(io);
    const limit = options.maxResponseBytes ?? MAX_RESPONSE_BYTES;

    // Set by onRequestStart, which undici calls on a connected socket right before it writes. Unset: nothing left.
    let started: Dispatcher.DispatchController | null = null;
    let settled = false;
    let status = 0;
    let answerHeaders: Record<string, string | string[] | undefined> = {};
    let chunks: Buffer[] = [];
    let received = 0;
    let verdict: ProviderFault | null = null;
    /** Of an answer that comes as events: tells them, and whether that was all. */
    let readEvents: ((chunk: Uint8Array) => boolean) | null = null;

    const finish = (fault: ProviderFault | null, reply?: HttpReply) => {
      if (settled) return;
      settled = true;
      io.signal.removeEventListener("abort", stop);
      chunks = [];
      if (fault) reject(fault);
      else if (reply) accept(reply);
    };
    const stop = () => {
      if (started) started.abort(new Error("stopped"));
      // Still waiting for a connection: the request is let go now and refused below, should its turn come.
      else finish(stoppedBeforeSending());
    };
    const header = (name: string) => {
      const value = answerHeaders[name];
      return typeof value === "string" ? value : (value?.[0] ?? null);
    };
    /** The status line alone is an answer: a definite error stays one when its body is cut or too long. */
    const refuseByStatus = () =>
      finish(faultOfAnswer(status, parseJson(Buffer.concat(chunks).toString("utf8")), header, io, options));

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        // Aborting here keeps every byte at home: undici looks before it writes.
        if (settled || started) {
          controller.abort(new Error("stopped"));
          return;
        }
        started = controller;
      },
      onResponseStart(_controller, code, received) {
        if (code < 200) return;
        status = code;
        answerHeaders = received;
        if (onEvent && isSuccess(code) && /^text\/event-stream\b/i.test(header("content-type") ?? ""))
          readEvents = eventReader(onEvent);
      },
      onResponseData(controller, chunk) {
        received += chunk.byteLength;
        if (!isSuccess(status)) {
          if (received <= MAX_ERROR_BYTES) chunks.push(chunk);
          else controller.abort(new Error("enough"));
          return;
        }
        if (received > limit) {
          verdict = new ProviderFault(
            "failed",
            "attempted",
            `The provider's answer is larger than ${limit} bytes.`,
            { status },
          );
          controller.abort(new Error("too large"));
          return;
        }
        if (!readEvents) return void chunks.push(chunk);
        if (settled) return;
        try {
          if (!readEvents(chunk)) return;
        } catch (error) {
          verdict = error instanceof ProviderFault ? error : unreadable(error, status, header, io);
          controller.abort(new Error("unreadable"));
          return;
        }
        finish(null, { status, body: undefined, header });
        // All is said. A server that does not hang up by itself is hung up on.
        setTimeout(() => controller.abort(new Error("over")), HANG_UP_MS).unref();
      },
      onResponseEnd() {
        if (redirects && status >= 300 && status < 400 && header("location"))
          return finish(null, { status, body: undefined, header });
        if (!isSuccess(status)) return refuseByStatus();
        if (readEvents) return finish(null, { status, body: undefined, header });
        const encoding = header("content-encoding");
        const isEncoded = encoding !== null && encoding !== "" && encoding !== "identity";
        if (read === "bytes" && !isEncoded)
          return finish(null, { status, body: Buffer.concat(chunks), header });
        const parsed = isEncoded
          ? undefined
          : parseJson(
              (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString("utf8"),
            );
        if (parsed === undefined) {
          finish(
            new ProviderFault("failed", "attempted", "The provider's answer is not JSON.", {
              status,
              ...requestId(header, io),
            }),
          );
          return;
        }
        finish(null, { status, body: parsed, header });
      },
      onResponseError(_controller, error) {
        if (verdict) return finish(verdict);
        if (!started) return finish(unreachable(error));
        if (status !== 0 && !isSuccess(status)) return refuseByStatus();
        finish(lost(error, io.signal.aborted));
      },
    };

    io.signal.addEventListener("abort", stop);
    try {
      origin.pool.dispatch(
        {
          origin: origin.origin,
          path: origin.prefix + path + origin.search,
          method,
          headers: {
            accept: "application/json",
            "accept-encoding": "identity",
            "user-agent": "capstan",
            ...headers,
          },
          body,
        },
        handler,
      );
    } catch (error) {
      finish(started ? lost(error, false) : unreachable(error));
    }
  });
}

const isSuccess = (status: number) => status >= 200 && status < 300;

/** `undefined` for what is no JSON; the parser's own error is dropped, since it quotes the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// ---- faults, in our own words

/** What a reader of events could not understand. Its error is dropped: it may quote the provider. */
function unreadable(error: unknown, status: number, header: HttpReply["header"], io: HttpIo): ProviderFault {
  return new ProviderFault(
    "failed",
    "attempted",
    "The provider's answer does not have the shape its interface promises.",
    { status, ...requestId(header, io) },
    cause(error),
  );
}

/** Name and code only: messages and fields of network errors may carry bytes of the provider. */
function cause(error: unknown): { cause: Error } {
  const name = error instanceof Error ? error.name : "Error";
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return { cause: new Error(`${name} ${code}`) };
}

function stoppedBeforeSending(): ProviderFault {
  return new ProviderFault("unreachable", "not_attempted", "The call was stopped before anything was sent.", {
    aborted: true,
  });
}

function unreachable(error: unknown): ProviderFault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message =
    code === PRIVATE_ADDRESS
      ? PRIVATE_REFUSED
      : code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT"
        ? "The provider did not accept a connection in time."
        : code === "ENOTFOUND" || code === "EAI_AGAIN"
          ? "The provider's host name could not be resolved."
          : code === "ECONNREFUSED"
            ? "The provider refused the connection."
            : /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)
              ? "No trusted TLS connection to the provider could be made."
              : "No connection to the provider could be made.";
  return new ProviderFault("unreachable", "not_attempted", message, {}, cause(error));
}

function lost(error: unknown, aborted: boolean): ProviderFault {
  return aborted
    ? new ProviderFault(
        "lost",
        "ambiguous",
        "The wait for the provider's answer was ended.",
        { aborted: true },
        cause(error),
      )
    : new ProviderFault(
        "lost",
        "ambiguous",
        "The connection was lost before the provider's answer was whole.",
        {},
        cause(error),
      );
}

const OVERLOADED = new Set([
  "overloaded",
  "overloaded_error",
  "server_overloaded",
  "engine_overloaded",
  "slow_down",
]);

function faultOfAnswer(
  status: number,
  body: unknown,
  header: HttpReply["header"],
  io: HttpIo,
  options: HttpOptions,
): ProviderFault {
  const retryAfterMs = retryAfter(header);
  const explained = options.explain?.({ status, body });
  const overloaded =
    status === 503 && (retryAfterMs !== undefined || words(body).some((word) => OVERLOADED.has(word)));
  const [kind, message]: [FaultKind, string] =
    status === 429 || status === 529 || overloaded
      ? ["capacity", "The provider has no capacity right now."]
      : status >= 300 && status < 400
        ? ["failed", "The provider answered with a redirect, which is never followed."]
        : status === 408 || status >= 500
          ? ["failed", "The provider failed while working on the request."]
          : status === 401 || status === 403
            ? ["refused", "The provider refused the credentials or the rights behind them."]
            : ["refused", "The provider refused the request."];
  return new ProviderFault(
    explained?.kind ?? kind,
    "attempted",
    `${explained?.message ?? message} (HTTP ${status})`,
    {
      status,
      ...requestId(header, io),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
}

/** `error.type` and `error.code` of the usual error bodies. */
function words(body: unknown): string[] {
  if (typeof body !== "object" || body === null || !("error" in body)) return [];
  const { error } = body;
  if (typeof error === "string") return [error];
  if (typeof error !== "object" || error === null) return [];
  return ["type" in error ? error.type : null, "code" in error ? error.code : null].filter(
    (word) => typeof word === "string",
  );
}

function requestId(header: HttpReply["header"], io: HttpIo): { providerRequestId?: string } {
  const id = safeWord(header("x-request-id") ?? header("request-id"), io);
  return id ? { providerRequestId: id } : {};
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; at most an hour. */
function retryAfter(header: HttpReply["header"]): number | undefined {
  const exact = Number(header("retry-after-ms") || Number.NaN); // an empty header says nothing
  const value = header("retry-after");
  const seconds = Number(value || Number.NaN);
  const ms = Number.isFinite(exact)
    ? exact
    : Number.isFinite(seconds)
      ? seconds * 1000
      : value
        ? Date.parse(value) - Date.now()
        : Number.NaN;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), MAX_RETRY_AFTER_MS) : undefined;
}

// ---- origins and their connections

type Origin = { origin: string; prefix: string; search: string; pool: Pool };

/** Kept by base URL and address rule, oldest use first; a pool made for one rule never serves the other. */
const origins = new Map<string, Origin>();

function originOf(io: HttpIo): Origin {
  const key = io.allowPrivateAddresses ? `private ${io.baseUrl}` : io.baseUrl;
  const known = origins.get(key);
  if (known) {
    if (origins.size > MAX_POOLS / 2) {
      origins.delete(key);
      origins.set(key, known);
    }
    return known;
  }
  const made = openOrigin(io);
  origins.set(key, made);
  const oldest = origins.keys().next().value;
  if (origins.size > MAX_POOLS && oldest !== undefined) {
    // Finishes what it carries, then closes.
    void origins.get(oldest)?.pool.close();
    origins.delete(oldest);
  }
  return made;
}

function openOrigin(io: HttpIo): Origin {
  const refuse = (message: string) => new ProviderFault("unreachable", "not_attempted", message);
  if (!URL.canParse(io.baseUrl)) throw refuse("The provider's base URL is not a URL.");
  const url = new URL(io.baseUrl);
  if (url.username || url.password) throw refuse("The provider's base URL must not carry credentials.");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && io.allowPrivateAddresses)) {
    throw refuse(
      `The provider's base URL must start with https.${url.protocol === "http:" ? ` ${ALLOW}` : ""}`,
    );
  }
  if (isPrivateLiteral(url) && !io.allowPrivateAddresses) throw refuse(PRIVATE_REFUSED);
  const pool = openPool(url, CONNECTIONS_PER_ORIGIN, io.allowPrivateAddresses);
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ""), search: url.search, pool };
}

/** Is the host a literal address that is not public? Literal addresses never pass through `lookup`. */
function isPrivateLiteral(url: URL): boolean {
  const literal = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(literal) !== 0 && !isPublicAddress(literal);
}

/** Connections to one origin. Unless private addresses are allowed, only to addresses that were checked as they were resolved. */
function openPool(url: URL, connections: number, allowPrivateAddresses: boolean): Pool {
  return new Pool(url.origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(allowPrivateAddresses ? {} : { lookup: publicLookup }) },
  });
}

const PRIVATE_ADDRESS = "PRIVATE_ADDRESS";

/** Resolves like `dns.lookup`, and fails when any of the addresses is not public: what is checked is what is connected to. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const first = addresses?.[0];
    if (error || !first) {
      callback(error ?? Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "", 0);
    } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
      callback(Object.assign(new Error("private address"), { code: PRIVATE_ADDRESS }), "", 0);
    } else if (options.all) {
      callback(null, addresses);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

const reserved = new BlockList();
for (const range of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]) {
  const [network = "", bits] = range.split("/");
  reserved.addSubnet(network, Number(bits), "ipv4");
}
/** Inside global unicast, yet tunnels, documentation or identifiers: Teredo, ORCHID, 6to4 and the like. */
for (const range of ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]) {
  const [network = "", bits] = range.split("/");
  reserved.addSubnet(network, Number(bits), "ipv6");
}
/** IPv6 is public only inside global unicast; loopback, mapped, NAT64, unique local and link-local all lie outside. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** May a request of ours go to this literal address? Compared in binary; anything unclear is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  if (family === 6 && !address.includes("%"))
    return globalUnicast.check(address, "ipv6") && !reserved.check(address, "ipv6");
  return false;
}

// ---- posts to addresses that callers name

export type AddressRules = { allowHttp: boolean; allowPrivateAddresses: boolean };

/** Why nothing is ever posted to this URL, as far as its text tells; null when it may be. */
export function refusalOfAddress(url: URL, rules: AddressRules): string | null {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "The address must start with https.";
  if (url.protocol === "http:" && !rules.allowHttp) return "The address must start with https.";
  if (url.username || url.password) return "The address must not carry a user name or password.";
  const isLocalName = /(^|\.)localhost\.?$/.test(url.hostname);
  if (!rules.allowPrivateAddresses && (isLocalName || isPrivateLiteral(url))) return RECEIVER_PRIVATE;
  return null;
}

/** An answer's status, or in our own words why there was none. What the receiver says beyond that is not kept. */
export type PostOutcome = { status: number; error: null } | { status: null; error: string };

const RECEIVER_PRIVATE = "The address is private, and private addresses are not allowed.";
const CONNECTIONS_PER_RECEIVER = 32;
const MAX_DISCARDED_BYTES = 64 * 1024;

/** Apart from the providers' connections, so that no caller's receivers can push those out. */
const receivers = new Map<string, Pool>();

/**
 * Posts a text once to an address a caller has named, and resolves with the status of the answer. Never rejects. No
 * redirect is followed; of the answer's body at most 64 KiB are read, and thrown away.
 */
export function postText(
  address: string,
  body: string,
  headers: Record<string, string>,
  rules: AddressRules & { signal: AbortSignal },
): Promise<PostOutcome> {
  return new Promise((settle) => {
    if (!URL.canParse(address)) return settle({ status: null, error: "The address is no URL." });
    const url = new URL(address);
    const refusal = refusalOfAddress(url, rules);
    if (refusal) return settle({ status: null, error: refusal });
    const { signal } = rules;
    let controller: Dispatcher.DispatchController | null = null;
    let received = 0;
    let isDone = false;
    const ended = (outcome: PostOutcome) => {
      settle(outcome); // the first one counts
      isDone = true;
    };
    const stop = () => {
      ended({ status: null, error: "The receiver did not answer in time." });
      controller?.abort(new Error("stopped"));
    };
    const close = () => signal.removeEventListener("abort", stop);
    const fail = (error: unknown) => {
      close();
      ended({ status: null, error: failureOf(error, controller !== null) });
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
    try {
      receiverOf(url, rules.allowPrivateAddresses).dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: "POST",
          headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": "capstan", ...headers },
          body,
        },
        {
          onRequestStart(started) {
            // Aborting here keeps every byte at home: the wait for a connection outlived the caller's patience.
            if (isDone) return started.abort(new Error("stopped"));
            controller = started;
          },
          onResponseStart(_controller, status) {
            if (status >= 200) ended({ status, error: null });
          },
          onResponseData(started, chunk) {
            received += chunk.byteLength;
            if (received > MAX_DISCARDED_BYTES) started.abort(new Error("enough"));
          },
          onResponseEnd: close,
          onResponseError: (_controller, error) => fail(error),
        },
      );
    } catch (error) {
      fail(error);
    }
  });
}

function receiverOf(url: URL, allowPrivateAddresses: boolean): Pool {
  const key = `${allowPrivateAddresses ? "private " : ""}${url.origin}`;
  const known = receivers.get(key);
  const pool = known ?? openPool(url, CONNECTIONS_PER_RECEIVER, allowPrivateAddresses);
  receivers.delete(key);
  receivers.set(key, pool);
  const oldest = receivers.keys().next().value;
  if (receivers.size > MAX_POOLS && oldest !== undefined) {
    void receivers.get(oldest)?.close();
    receivers.delete(oldest);
  }
  return pool;
}

function failureOf(error: unknown, hasLeft: boolean): string {
  if (hasLeft) return "The connection was lost before the receiver answered.";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === PRIVATE_ADDRESS) return RECEIVER_PRIVATE;
  return unreachable(error).message.replaceAll("provider", "receiver");
}
