import { createServer } from "node:http";
import { jsonAnswer } from "@/server/api/answers/plain";
import { draining, healthz, readyz } from "@/server/api/health";
import { metricsAnswer } from "@/server/api/metrics";
import type { Incoming, Outgoing } from "@/server/api/transport";
import { log } from "@/server/platform/log/log";
import { HttpIncoming, sendResponse } from "./exchange";
import { listen } from "./listen";

export type Probes = {
  url: string;
  /** Makes `/readyz` report that the process takes nothing new. */
  drain(): void;
  stop(): Promise<void>;
};

/**
 * Starts the probes of a process without an API: `/healthz`, `/readyz` and `/metrics`, as in the web process, and nothing else.
 * Port 0 takes any free one.
 */
export async function startProbes(options: { host: string; port: number }): Promise<Probes> {
  let isDraining = false;
  const paths: Record<string, (incoming: Incoming) => Promise<Outgoing>> = {
    "/healthz": healthz,
    "/readyz": (incoming) => (isDraining ? draining(incoming) : readyz(incoming)),
    "/metrics": metricsAnswer,
  };
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, response) => {
    const incoming = new HttpIncoming(request, response, null);
    const isRead = incoming.method === "GET" || incoming.method === "HEAD";
    const answer = Object.hasOwn(paths, incoming.path) && isRead ? paths[incoming.path] : undefined;
    (answer ?? notFound)(incoming)
      .then((outgoing) =>
        sendResponse(request, response, incoming.method === "HEAD" ? { ...outgoing, body: null } : outgoing),
      )
      .catch((error) => {
        log.error({ err: error, path: incoming.path }, "a probe request failed");
        response.destroy();
      });
  });
  const url = await listen(server, options);
  return {
    url,
    drain() {
      isDraining = true;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function notFound(incoming: Incoming): Promise<Outgoing> {
  const message = "This process answers GET /healthz, /readyz and /metrics.";
  return jsonAnswer(incoming, 404, JSON.stringify({ detail: { code: "NotFound", message } }));
}
