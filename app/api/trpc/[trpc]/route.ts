import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { refuseHostileJson } from "@/server/api/json-scan";
import { answered } from "@/server/auth/guard";
import { requireJson, requireSameOrigin } from "@/server/auth/same-origin";
import { panelCtx } from "@/server/auth/session";
import { appRouter } from "@/server/trpc";

/** Of one request: pages ask less at once. */
const MOST_CALLS = 30;

function handle(request: Request): Promise<Response> {
  return fetchRequestHandler({
    endpoint: "/api/trpc",
    req: request,
    router: appRouter,
    maxBatchSize: MOST_CALLS,
    createContext: panelCtx,
    responseMeta: () => ({ headers: new Headers({ "cache-control": "private, no-store" }) }),
  });
}

/** What no database or hash can hold is refused here as the API refuses it: the verbs are the same. */
export function GET(request: Request): Promise<Response> {
  return answered(async () => {
    refuseHostileJson(new URL(request.url).searchParams.get("input") ?? "");
    return handle(request);
  });
}

/** Writes come by POST only, and only from our own pages. */
export function POST(request: Request): Promise<Response> {
  return answered(async () => {
    requireSameOrigin(request);
    requireJson(request);
    const body = await request.text();
    refuseHostileJson(body);
    return handle(new Request(request, { body }));
  });
}
