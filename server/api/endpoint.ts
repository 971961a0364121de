import type { z } from "zod";
import { access, type ProjectRight } from "@/server/domain/access";
import { type Ctx, type PrincipalKind, type Scope, systemClock } from "@/server/domain/ctx";
import type { SentKey } from "@/server/domain/envelope";
import { type ErrorCode, Fault, fail } from "@/server/platform/errors/errors";
import { toWire, type WireError } from "@/server/platform/errors/errors-wire";
import { type Log, log } from "@/server/platform/log/log";
import { countAnswer } from "@/server/platform/log/metrics";
import { env } from "@/server/platform/settings/env";
import { commonHeaders, requestIdFor } from "./answers/plain";
import { admitPage, identifyAgain, identifyCaller, refuseAnonymous } from "./auth";
import { DEFAULT_BODY_LIMIT, hashInTurns, readJsonBody } from "./body";
import { keyHeader } from "./header-lines";
import {
  ignoredNames,
  parsePart,
  type QueryField,
  queryFieldsOf,
  readQuery,
  refuseHostileParams,
} from "./input";
import {
  type Incoming,
  isBytes,
  isReply,
  type Outgoing,
  type Raw,
  type RawResponse,
  type Reply,
} from "./transport";

export {
  COMMENT,
  eventStream,
  lastEventIdOf,
  nothingMore,
  streamed,
  toEventLine,
  wantsEventStream,
} from "./answers/event-stream";
export { bytes, type Incoming, type Outgoing, type Raw, type Reply, raw, reply } from "./transport";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** The kinds of caller over HTTP. */
export type CallerKind = Exclude<PrincipalKind, "system">;

export type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
export type EndpointResult<O> = O extends z.ZodType
  ? z.output<O> | Reply<z.output<O>> | RawResponse
  : Outgoing;

type Facts = {
  method: HttpMethod;
  /** The path template, with parameters in braces: `/v1/jobs/{job_id}/cancel`. */
  path: `/${string}`;
  /** The last parameter of the path may have slashes: it takes the rest of the path. */
  takesSlashes?: true;
  summary: string;
  description?: string;
  tags?: readonly string[];
  /** The kinds of caller that may call the endpoint. `anonymous` includes all but embed sessions. */
  auth: readonly CallerKind[];
  /** Pages to whose origins embed sessions are bound may call the endpoint without a credential. */
  fromPages?: true;
  /** Programs, too, may call the endpoint with an embed session: they send no Origin and no cookie. */
  fromPrograms?: true;
  /** The scope that a key needs. */
  scope?: Scope;
  /** Checked instead of the scope, because management keys may call some operations under another scope. */
  right?: ProjectRight;
  /** The largest body, in bytes; 1 MiB by default. */
  bodyLimit?: number;
  /** Repeating a request under the same Idempotency-Key header returns the outcome of the first. */
  idempotent?: true;
  /** For endpoints that start an execution: the response only confirms the start. */
  answersAtOnce?: true;
  /** The body is not read: `run` gets the stream of `incoming`, of any media type. */
  rawBody?: true;
  /**
   * Like `rawBody`, for a multipart form with these fields, some of them files. A signed-in browser may send the form.
   */
  form?: z.ZodObject;
  /** Other media types that the response may have. */
  also?: readonly Raw[];
  /** The success status; 200 by default. */
  status?: number;
  /** Other success statuses: 204 if a stream has nothing more, 206 for a range, 304 if the caller has the content. */
  partly?: readonly (204 | 206 | 304)[];
  /** The body's schema for OpenAPI, if `body` accepts any object because the domain function parses it. */
  documents?: z.ZodObject;
  /** A body that the operation takes, as OpenAPI and the reference show it. */
  example?: object;
  /** Capabilities for which OpenAPI also lists the path with their key, each with an example body. */
  dedicated?: Readonly<Record<string, object>>;
  /** The errors that the endpoint can return, in addition to those of every endpoint (COMMON_ERRORS). */
  errors: readonly ErrorCode[];
  /** Errors have code, message and details at the top level as well. */
  envelopeErrors?: true;
  /** Errors in the shape of another interface. */
  refusals?: { toWire(error: unknown, requestId: string): WireError; schema: z.ZodType };
};

/** Passed to `run` in addition to the parsed request. */
export type RequestContext = {
  incoming: Incoming;
  /** The Idempotency-Key header, for endpoints with `idempotent`. */
  idempotencyKey: SentKey | undefined;
  /** Records the bytes that identify a repeat without a key, as a hash; undefined if none is recognized. */
  noteBody: ((bytes: Uint8Array) => Promise<void>) | undefined;
};

export type Definition<P, Q, B, O> = Facts & {
  params?: P;
  query?: Q;
  body?: B;
  output: O;
  run(
    ctx: Ctx,
    request: { params: Parsed<P>; query: Parsed<Q>; body: Parsed<B> } & RequestContext,
  ): Promise<EndpointResult<O>>;
};

/** One operation of the API as a value: it serves HTTP, is described in OpenAPI and is checked by the laws. */
export type Endpoint = Facts & {
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  output: z.ZodType | Raw;
  queryFields: readonly QueryField[];
  run(
    ctx: Ctx,
    request: { params: unknown; query: unknown; body: unknown } & RequestContext,
  ): Promise<unknown>;
};

/** Errors that any endpoint may return, because this file or a function it calls checks every request. */
export const COMMON_ERRORS = [
  "AuthenticationFailed",
  "AuthorizationFailed",
  "CrossSiteRequest",
  "RequestTimeout",
  "PayloadTooLarge",
  "UnsupportedMediaType",
  "RateLimited",
  "InternalFailure",
  "ServiceUnavailable",
] as const satisfies ErrorCode[];

/** Defines an endpoint. `run` receives parsed input, and returns output in the form of the contract. */
export function endpoint<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  O extends z.ZodType | Raw = Raw,
>(definition: Definition<P, Q, B, O>): Endpoint {
  const erased: Facts & Pick<Endpoint, "params" | "query" | "body" | "output" | "run"> = {
    ...definition, // perform() parses the input of `run` with the schemas from which its types are inferred
  };
  return { ...erased, queryFields: definition.query ? queryFieldsOf(definition.query) : [] };
}

/**
 * Serves one request: request id, principal, limits, parameters, query, body, `run`, output. One catch turns anything
 * thrown into an error response, so the promise never rejects.
 */
export async function respond(endpoint: Endpoint, incoming: Incoming): Promise<Outgoing> {
  const since = performance.now();
  const outgoing = await answer(incoming, endpoint, (ctx, headers) =>
    perform(endpoint, incoming, ctx, headers),
  );
  countAnswer(endpoint, outgoing.status, performance.now() - since);
  return outgoing;
}

/**
 * The error of a request that no endpoint serves, in the usual shape or another interface's. Counts the caller first.
 */
export function refuseRequest(
  incoming: Incoming,
  fault: Fault,
  inShapeOf?: NonNullable<Endpoint["refusals"]>["toWire"],
): Promise<Outgoing> {
  return answer(
    incoming,
    null,
    async (ctx, headers) => {
      await identifyCaller(incoming, { now: ctx.now(), headers });
      throw fault;
    },
    inShapeOf,
  );
}

/** The response to an error that was thrown outside an endpoint. The caller is neither identified nor counted. */
export const refuseUncounted = (
  incoming: Incoming,
  error: unknown,
  inShapeOf?: NonNullable<Endpoint["refusals"]>["toWire"],
): Promise<Outgoing> => answer(incoming, null, () => Promise.reject(error), inShapeOf);

/** Names the request in each line. Makes its child logger only to log, because most requests log nothing. */
class RequestLog implements Log {
  constructor(private readonly requestId: string) {}

  get error(): Log["error"] {
    return this.own("error");
  }

  get warn(): Log["warn"] {
    return this.own("warn");
  }

  get info(): Log["info"] {
    return this.own("info");
  }

  private own(level: keyof Log): Log["error"] {
    const { requestId } = this;
    const lines = log.child({ requestId });
    return lines[level].bind(lines);
  }
}

type Headers = Record<string, string>;

async function answer(
  incoming: Incoming,
  endpoint: Endpoint | null,
  work: (ctx: Ctx, headers: Headers) => Promise<Outgoing>,
  inShapeOf = endpoint?.refusals?.toWire,
): Promise<Outgoing> {
  const requestId = requestIdFor(incoming);
  const headers = commonHeaders(requestId);
  const ctx: Ctx = {
    principal: { kind: "anonymous", id: "anonymous", address: incoming.address },
    requestId,
    now: systemClock,
    address: incoming.address || undefined,
    log: new RequestLog(requestId),
    signal: () => incoming.signal,
    whoNow() {
      return identifyAgain(incoming, this.now());
    },
  };
  const outgoing = await work(ctx, headers).catch((error): Outgoing => {
    const {
      status,
      headers: own,
      body,
    } = inShapeOf?.(error, requestId) ?? toWire(error, requestId, endpoint?.envelopeErrors);
    report(error, ctx, { incoming, endpoint, status });
    Object.assign(headers, { "content-type": "application/json" }, own);
    return { status, headers, body: JSON.stringify(body) };
  });
  if (ctx.isReplay) outgoing.headers["x-idempotent-replay"] = "true";
  if (outgoing.status === 504) await ctx.unkeyed?.answeredEarly?.();
  return outgoing;
}

/** Logs unexpected errors in full, and expected ones that the contract does not list. */
function report(
  error: unknown,
  ctx: Ctx,
  { incoming, endpoint, status }: { incoming: Incoming; endpoint: Endpoint | null; status: number },
): void {
  const facts = { method: incoming.method, path: endpoint?.path ?? incoming.path };
  if (status === 500 || (status === 503 && !(error instanceof Fault))) {
    ctx.log.error({ err: error, ...facts }, "request failed");
  } else if (error instanceof Fault && endpoint && !isListed(error.code, endpoint)) {
    ctx.log.error({ code: error.code, ...facts }, "an error is missing from its endpoint's errors");
  }
}

function isListed(code: ErrorCode, endpoint: Endpoint): boolean {
  return endpoint.errors.includes(code) || COMMON_ERRORS.some((common) => common === code);
}

async function perform(
  endpoint: Endpoint,
  incoming: Incoming,
  ctx: Ctx,
  headers: Headers,
): Promise<Outgoing> {
  const bodyType = endpoint.form ? "multipart/form-data" : endpoint.rawBody ? null : "application/json";
  if (isForPages(endpoint)) await admitPage(incoming, ctx.now(), headers);
  ctx.principal = await identifyCaller(incoming, {
    now: ctx.now(),
    headers,
    bodyType,
    takesPrograms: endpoint.fromPrograms,
  });
  requireCaller(endpoint, ctx, headers);
  const { params, query, body } = endpoint;
  if (params) refuseHostileParams(incoming.params);
  const key = endpoint.idempotent && keyHeader(incoming);
  const seen = isUnkeyed(endpoint, ctx, key) ? noteUnkeyed(endpoint, incoming, ctx) : undefined;
  const asked = query && parsePart(query, readQuery(incoming.query, endpoint.queryFields), "query");
  const ignored = ignoredNames(incoming.query, asked);
  if (ignored) headers["x-capstan-ignored-query"] = ignored;
  const result = await endpoint.run(ctx, {
    params: params && parsePart(params, incoming.params, "path"),
    query: asked,
    body:
      body &&
      parsePart(body, await readJsonBody(incoming, endpoint.bodyLimit ?? DEFAULT_BODY_LIMIT, seen), "body"),
    incoming,
    idempotencyKey: key,
    noteBody: seen,
  });
  return toOutgoing(endpoint, result, headers, ctx);
}

/** True if a repeat of this request is recognized although it has no idempotency key. */
const isUnkeyed = (endpoint: Endpoint, { principal }: Ctx, key: SentKey | undefined) =>
  endpoint.idempotent === true &&
  !key?.key &&
  principal.kind === "service_principal" &&
  env.REPEAT_GUARD_SECONDS > 0;

/** Records what identifies a repeat of this request; the body is recorded only as a hash. */
const noteUnkeyed = (endpoint: Endpoint, incoming: Incoming, ctx: Ctx) => async (bytes: Uint8Array) => {
  ctx.unkeyed = {
    path: incoming.path,
    bodyHash: await hashInTurns(bytes),
    retries: retriesOf(incoming),
    awaitsEnd: !endpoint.answersAtOnce,
  };
};

/** Clients generated by Stainless, such as OpenAI's, report how often they have already sent a request. */
function retriesOf(incoming: Incoming): number {
  const said = incoming.header("x-stainless-retry-count") ?? "";
  return /^\d{1,4}$/.test(said) ? Number(said) : 0;
}

/** True if a page of another origin may call this, with an embed session or to get one. */
export const isForPages = ({ auth, fromPages }: Pick<Endpoint, "auth" | "fromPages">): boolean =>
  fromPages === true || auth.includes("panel_session");

function requireCaller(endpoint: Endpoint, ctx: Ctx, headers: Headers): void {
  const { kind } = ctx.principal;
  const { auth } = endpoint;
  if (!auth.includes("anonymous")) {
    if (kind === "anonymous") refuseAnonymous(headers);
    if (!auth.some((allowed) => allowed === kind)) {
      const allowed = auth.join(", ");
      fail("AuthorizationFailed", `A ${kind} cannot call this operation. Allowed: ${allowed}.`, { kind });
    }
  }
  // An embed session may call only what lists it, even where no credential is needed.
  if (kind === "panel_session" && !auth.includes(kind))
    fail("AuthorizationFailed", "A panel_session cannot call this operation.", { kind });
  const right = endpoint.right ?? endpoint.scope;
  if (right) access.authorize(ctx, right);
}

function toOutgoing(endpoint: Endpoint, result: unknown, headers: Headers, ctx: Ctx): Outgoing {
  if (isBytes(result)) {
    return { status: result.status, headers: Object.assign(headers, result.headers), body: result.body };
  }
  if ("rawMediaType" in endpoint.output) {
    const outgoing = result as Outgoing; // an endpoint with a raw output returns an Outgoing
    const type = { "content-type": endpoint.output.rawMediaType };
    return { ...outgoing, headers: Object.assign(headers, type, outgoing.headers) };
  }
  const own: { status?: number; headers?: Headers; output: unknown } = isReply(result)
    ? result
    : { output: result };
  checkOutput(endpoint.output, own.output, endpoint, ctx);
  headers["content-type"] = "application/json";
  if (own.headers) Object.assign(headers, own.headers);
  const status = own.status ?? endpoint.status ?? 200;
  return { status, headers, body: JSON.stringify(own.output) };
}

// In production only a sample of responses is checked, so that the check costs nothing noticeable.
const CHECK_EVERY = env.CAPSTAN_ENV === "production" ? 64 : 1;
let answers = 0;

/** A response that breaks its contract is our bug: a 500 outside production, a log entry in production. */
function checkOutput(schema: z.ZodType, output: unknown, endpoint: Endpoint, ctx: Ctx): void {
  if (++answers % CHECK_EVERY !== 0) return;
  const parsed = schema.safeParse(output);
  if (parsed.success) return;
  const cause = parsed.error;
  if (CHECK_EVERY === 1)
    throw new Error(`${endpoint.method} ${endpoint.path} broke its contract: ${cause.message}`);
  ctx.log.error({ issues: cause.issues, path: endpoint.path }, "a response broke its contract");
}
