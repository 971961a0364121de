import { clientAddress } from "@/server/platform/client-address";
import { whole } from "./body";
import { type Endpoint, refuseUncounted } from "./endpoint";
import { linesOfRequest } from "./header-lines";
import { type Router, router } from "./router";
import type { Incoming, Outgoing } from "./transport";

type Handler = (request: Request) => Promise<Response>;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/**
 * The exports of a Next route file: handlers of all methods, so that we and not the host respond to a wrong method. Path
 * parameters are read from the request, as in our own server.
 */
export function serve(...endpoints: Endpoint[]): Record<(typeof METHODS)[number], Handler> {
  return handlers(router(endpoints));
}

/** The exports of a Next route file for a router, e.g. one without endpoints that answers every path with NotFound. */
export function handlers(route: Router): Record<(typeof METHODS)[number], Handler> {
  const handle: Handler = async (request) => toResponse(await route(toIncoming(request)));
  return {
    GET: handle,
    HEAD: handle,
    POST: handle,
    PUT: handle,
    PATCH: handle,
    DELETE: handle,
    OPTIONS: handle,
  };
}

/** Converts a request of a Next handler to an Incoming. */
export function toIncoming(request: Request): Incoming {
  const url = new URL(request.url);
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    header: (name) => request.headers.get(name) ?? undefined,
    lines: (name) => linesOfRequest(request, name),
    body: request.body && whole(request.body),
    params: {},
    // A host gives handlers no socket; it puts the caller's address in this header.
    address: clientAddress(request.headers.get("x-forwarded-for") ?? undefined, ""),
    signal: request.signal,
  };
}

/**
 * Runs a Next handler that is not part of the API. Errors are returned in the API's shape, or the one given, and unexpected
 * ones are logged, as for an endpoint.
 */
export async function guarded(
  request: Request,
  handler: (incoming: Incoming) => Promise<Response>,
  inShapeOf?: Parameters<typeof refuseUncounted>[2],
): Promise<Response> {
  const incoming = toIncoming(request);
  try {
    return await handler(incoming);
  } catch (error) {
    return toResponse(await refuseUncounted(incoming, error, inShapeOf));
  }
}

function toResponse({ status, headers, body }: Outgoing): Response {
  return new Response(toBody(body), { status, headers });
}

function toBody(body: Outgoing["body"]): BodyInit | null {
  if (body === null || typeof body === "string") return body;
  if (body instanceof Uint8Array) return new Uint8Array(body); // its buffer is a plain ArrayBuffer, as BodyInit requires
  return toStream(body);
}

function toStream(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
