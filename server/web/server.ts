import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { commonHeaders, requestIdFor } from "@/server/api/answers/plain";
import { docsAnswer, isDocsPath } from "@/server/api/docs";
import { indexAnswer, llmsAnswer, manifestAnswer, wantsIndex } from "@/server/api/front-door";
import { draining, healthz, readyz } from "@/server/api/health";
import { mcpRoute } from "@/server/api/mcp";
import { metricsAnswer } from "@/server/api/metrics";
import { documentAnswer } from "@/server/api/openapi/document";
import { panelFiles } from "@/server/api/panel-files";
import { type Router, router } from "@/server/api/router";
import type { Incoming, Outgoing } from "@/server/api/transport";
import { endpoints } from "@/server/operations";
import { type ErrorCode, Fault } from "@/server/platform/errors/errors";
import { toWire } from "@/server/platform/errors/errors-wire";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { publicUrl } from "@/server/platform/settings/env";
import { VERSION } from "@/server/platform/settings/version";
import { bodyDeadlines, type Deadline } from "./deadlines";
import { HttpIncoming, hasBody, sendResponse } from "./exchange";
import { allowFrames } from "./frames";
import { listen } from "./listen";

/** Handles the requests that the server does not answer itself: pages, sign-in, tRPC, Inngest. */
export type Pages = {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
};

export type WebServer = {
  url: string;
  /**
   * Takes nothing new, ends event streams, lets other running requests end within the grace period, then cuts
   * what is left.
   */
  stop(graceMs: number): Promise<void>;
};

const isHttps = publicUrl.startsWith("https://");

/** Prepares a request and its answer for a page. */
async function toPage(incoming: Incoming, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path } = incoming;
  // A page decodes its parameters and would fail on an invalid escape, so such a path is escaped as a whole.
  if (!isDecodable(path)) request.url = path.replaceAll("%", "%25") + (request.url ?? "").slice(path.length);
  // Sign-in limits count by this header, so the caller's own value must not get through.
  request.headers["x-forwarded-for"] = incoming.address;
  response.setHeader("x-request-id", newId("request"));
  response.setHeader("x-capstan-version", VERSION);
  if (isHttps) response.setHeader("strict-transport-security", "max-age=31536000");
  await allowFrames(incoming, request, response);
}

/** Starts the one server of the web process. Port 0 takes any free one. */
export async function startServer(options: {
  host: string;
  port: number;
  pages: Pages | null;
  /** Router of /v1; our endpoints by default. */
  route?: Router;
  /** Time limit of bodies, and how often it is checked. */
  bodies?: Parameters<typeof bodyDeadlines>[1];
}): Promise<WebServer> {
  const { pages, route = router(endpoints) } = options;
  let isStopping = false;
  const streams = new Set<ServerResponse>();
  const paths: Record<string, (incoming: Incoming) => Promise<Outgoing>> = {
    "/healthz": healthz,
    "/readyz": (incoming) => (isStopping ? draining(incoming) : readyz(incoming)),
    "/metrics": metricsAnswer,
    "/openapi.json": documentAnswer,
    "/llms.txt": llmsAnswer,
    "/.well-known/capstan.json": manifestAnswer,
    "/.well-known/jwks.json": route,
    "/mcp": mcpRoute,
  };

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    deadline: Deadline | null,
  ): Promise<void> {
    if (isStopping) response.setHeader("connection", "close");
    request.url = toOriginForm(request.url ?? "/");
    const incoming = new HttpIncoming(request, response, deadline);
    const { path } = incoming;
    const isApi = path.startsWith("/v1/") || path === "/v1" || !path.startsWith("/"); // `*` is about the server, not a page
    const isFile = path === "/artifacts" || path.startsWith("/artifacts/");
    const document = isDocsPath(path) ? docsAnswer : wantsIndex(incoming) ? indexAnswer : paths[path];
    const own = isApi ? route : isFile ? panelFiles : document;
    const isRouted = own === route || own === mcpRoute || own === panelFiles;
    if (own && !isRouted && incoming.method === "OPTIONS") {
      const headers = { ...commonHeaders(requestIdFor(incoming)), allow: "GET, HEAD, OPTIONS" };
      return sendResponse(request, response, { status: 204, headers, body: null });
    }
    if (own && (isRouted || incoming.method === "GET" || incoming.method === "HEAD")) {
      const outgoing = await own(incoming);
      if (!isRouted && incoming.method === "HEAD") outgoing.body = null;
      if (own === route && outgoing.headers["content-type"] === "text/event-stream") {
        streams.add(response);
        response.once("close", () => streams.delete(response));
      }
      return sendResponse(request, response, outgoing);
    }
    if (!pages) return sendResponse(request, response, await route(incoming));
    await toPage(incoming, request, response);
    return pages.handle(request, response);
  }

  const deadlines = bodyDeadlines(({ socket }) => {
    refuseConnection("408 Request Timeout", socket);
    socket.destroySoon(); // a slow sender would close it slowly
  }, options.bodies);
  const server = createServer(
    {
      // Bodies have deadlines of their own, and headers must arrive at once.
      requestTimeout: 0,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: 65_000, // longer than load balancers keep theirs
      noDelay: true,
    },
    (request, response) => {
      const deadline = hasBody(request) ? deadlines.watch(request) : null;
      handle(request, response, deadline)
        .catch((error) => answerFailure(error, request, response))
        .finally(() => deadline?.end());
    },
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    refuseConnection(lineOf(error), socket);
  });
  if (pages?.upgrade) server.on("upgrade", pages.upgrade);

  const url = await listen(server, options);

  return {
    url,
    async stop(graceMs) {
      isStopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A kept connection is closed once its last answer is out.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      // Event streams do not end on their own; their readers come back with the last id they saw.
      for (const response of streams) response.destroy();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
      clearInterval(idle);
      deadlines.stop();
    },
  };
}

function answerFailure(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  // The query is left out, because it may carry a token.
  const path = request.url?.split("?", 1)[0];
  if (!request.destroyed) log.error({ err: error, path }, "a request failed outside its endpoint");
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { "content-type": "application/json" }).end(failure());
}

function isDecodable(path: string): boolean {
  if (!path.includes("%")) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Reduces a target with scheme and host, as proxies receive it, to what is behind the host. */
const toOriginForm = (target: string) =>
  /^https?:\/\//i.test(target) ? target.replace(/^\w+:\/\/[^/?#]*\/?/, "/") : target;

const failure = () =>
  JSON.stringify(toWire(new Error("a request failed outside its endpoint"), newId("request")).body);

function lineOf({ code }: NodeJS.ErrnoException): string {
  if (code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
}

/** Gives input that is not HTTP, too large or too slow a short answer, and closes the connection. */
function refuseConnection(line: string, socket: Duplex): void {
  const code: ErrorCode = line.startsWith("408") ? "RequestTimeout" : "InvalidRequest";
  const fault = new Fault(code, `${line.slice(4)}.`, {});
  const body = JSON.stringify(toWire(fault, newId("request")).body);
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}
