import { TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { requireOwnWrite } from "@/server/api/auth";
import { DEFAULT_BODY_LIMIT, readLimited } from "@/server/api/body";
import { refuseHostileJson } from "@/server/api/json-scan";
import { toIncoming } from "@/server/api/next";
import { countRequest } from "@/server/api/rate-limit";
import type { Ctx } from "@/server/domain/ctx";
import { toWire } from "@/server/platform/errors/errors-wire";
import { isOutage } from "@/server/platform/errors/outage";
import { log } from "@/server/platform/log/log";
import { appRouter } from "@/server/trpc";
import { isHuman, toTrpcError } from "@/server/trpc/init";

/** The most calls in one request; pages send fewer. */
const MOST_CALLS = 30;
/** A form of a capability may contain files, like the API's requests. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Serves a request of the panel's pages. As in the API, the caller is counted and the body limited before anything is read;
 * writes must be POST and come from our own pages. Never rejects.
 */
export async function servePanel(request: Request, findCtx: () => Promise<Ctx>): Promise<Response> {
  const headers: Record<string, string> = { "cache-control": "private, no-store" };
  try {
    const { ctx, body } = await admit(request, findCtx, headers);
    return await answer(body ? withBody(request, body) : request, headers, async () => ctx);
  } catch (error) {
    const { status, headers: own } = toWire(error, "");
    if (status === 500 || isOutage(error)) log.error({ err: error }, "panel request failed");
    Object.assign(headers, own);
    const cause = error instanceof Error ? error : undefined;
    // Errors are returned in the pages' format, as the result of each call.
    return answer(request, headers, () => {
      throw toTrpcError(new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause }));
    });
  }
}

async function admit(request: Request, findCtx: () => Promise<Ctx>, headers: Record<string, string>) {
  const incoming = toIncoming(request);
  requireOwnWrite(incoming, "application/json");
  const ctx = await findCtx();
  countRequest(ctx.principal, incoming.address, headers);
  const mostBytes = isHuman(ctx) ? MOST_BYTES : DEFAULT_BODY_LIMIT;
  const body = request.method === "POST" ? await readLimited(incoming, mostBytes) : undefined;
  // Text that no database or hash can represent is refused as in the API, because the verbs are the same.
  refuseHostileJson(body ? Buffer.from(body).toString("utf8") : (incoming.query.get("input") ?? ""));
  return { ctx, body };
}

function withBody(request: Request, body: Uint8Array): Request {
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body: new Uint8Array(body) });
}

function answer(request: Request, headers: Record<string, string>, createContext: () => Promise<Ctx>) {
  return fetchRequestHandler({
    endpoint: "/api/trpc",
    req: request,
    router: appRouter,
    maxBatchSize: MOST_CALLS,
    createContext,
    responseMeta: () => ({ headers: new Headers(headers) }),
  });
}
