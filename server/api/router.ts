import { systemClock } from "@/server/domain/ctx";
import { Fault } from "@/server/platform/errors/errors";
import { commonHeaders, requestIdFor } from "./answers/plain";
import { preflight } from "./auth";
import { type Endpoint, isForPages, refuseRequest, respond } from "./endpoint";
import { toOpenAIWire } from "./openai/errors";
import { insteadOf } from "./openai/unserved";
import { pathFinder } from "./path";
import { retired } from "./retired";
import type { Incoming, Outgoing } from "./transport";

/** Serves requests to the paths of some endpoints; every other path is NotFound, or Gone if it was retired. */
export type Router = (incoming: Incoming) => Promise<Outgoing>;

/** A router over these endpoints. Fills in `incoming.params`. HEAD is GET without its body; OPTIONS lists the methods. */
export function router(endpoints: readonly Endpoint[]): Router {
  const byPath = new Map<string, Map<string, Endpoint>>();
  for (const each of endpoints) {
    const methods = byPath.get(each.path) ?? new Map<string, Endpoint>();
    if (methods.has(each.method)) throw new Error(`two endpoints serve ${each.method} ${each.path}`);
    methods.set(each.method, each);
    byPath.set(each.path, methods);
  }
  const find = pathFinder(
    [...byPath].map(([path, methods]) => [
      [...methods.values()].some(({ takesSlashes }) => takesSlashes) ? path.replace(/\}$/, "*}") : path,
      methods,
    ]),
  );

  return async (incoming) => {
    const match = find(incoming.path);
    if (!match) {
      const gone = retirementOf(incoming);
      if (gone) return refuseRequest(incoming, gone);
      const instead = insteadOf(incoming.path);
      if (!instead)
        return refuseRequest(
          incoming,
          new Fault("NotFound", "This path does not exist. See /openapi.json for the API's paths.", {}),
        );
      return refuseRequest(
        incoming,
        new Fault("NotFound", `This endpoint of OpenAI's API is not available here. ${instead}`, {}),
        toOpenAIWire,
      );
    }
    incoming.params = match.params;
    const endpoint = match.found.get(incoming.method);
    if (endpoint) return respond(endpoint, incoming);
    return answerOtherMethod(match.found, incoming);
  };
}

const findRetired = pathFinder(retired.map((each) => [each.path, each] as const));

/** The error of a retired path; null for anything else. */
function retirementOf({ path, method }: Incoming): Fault | null {
  const found = findRetired(path)?.found;
  if (!found || (found.methods && !found.methods.includes(method))) return null;
  const { replacement } = found;
  return new Fault("Gone", `This endpoint was retired. Use ${replacement} instead.`, { replacement });
}

async function answerOtherMethod(methods: Map<string, Endpoint>, incoming: Incoming): Promise<Outgoing> {
  const allow = [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"];
  const get = methods.get("GET");
  if (incoming.method === "HEAD" && get) return withoutBody(await respond(get, incoming));
  if (incoming.method === "OPTIONS") {
    const headers: Record<string, string> = {
      ...commonHeaders(requestIdFor(incoming)),
      allow: allow.join(", "),
    };
    const forPages = [...methods].filter(([, endpoint]) => isForPages(endpoint)).map(([method]) => method);
    try {
      await preflight(incoming, systemClock(), forPages, headers);
    } catch (refusal) {
      return refuseRequest(incoming, refusal as Fault); // the rate limit of an address throws a Fault
    }
    return { status: 204, headers, body: null };
  }
  const gone = retirementOf(incoming);
  if (gone) return refuseRequest(incoming, gone);
  const instead = insteadOf(incoming.path);
  const message = [`This method is not allowed here. Use one of ${allow.join(", ")}.`, instead]
    .filter(Boolean)
    .join(" ");
  return refuseRequest(
    incoming,
    new Fault("MethodNotAllowed", message, { allow }, { headers: { allow: allow.join(", ") } }),
    [...methods.values()].find(({ refusals }) => refusals)?.refusals?.toWire,
  );
}

function withoutBody({ status, headers, body }: Outgoing): Outgoing {
  if (typeof body === "string") headers["content-length"] ??= String(Buffer.byteLength(body));
  else if (body instanceof Uint8Array) headers["content-length"] ??= String(body.byteLength);
  return { status, headers, body: null };
}
