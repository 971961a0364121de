import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { answered } from "@/server/auth/guard";
import { requireJson, requireSameOrigin } from "@/server/auth/same-origin";
import { panelCtx } from "@/server/auth/session";
import { appRouter } from "@/server/trpc";

function handle(request: Request): Promise<Response> {
  return fetchRequestHandler({
    endpoint: "/api/trpc",
    req: request,
    router: appRouter,
    createContext: panelCtx,
    responseMeta: () => ({ headers: new Headers({ "cache-control": "private, no-store" }) }),
  });
}

export const GET = handle;

/** Writes come by POST only, and only from our own pages. */
export function POST(request: Request): Promise<Response> {
  return answered(async () => {
    requireSameOrigin(request);
    requireJson(request);
    return handle(request);
  });
}
