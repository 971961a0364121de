import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type Backlog, backlog } from "@/server/domain/health";
import { env, isProduction } from "@/server/env";
import { isSame } from "./auth";
import { commonHeaders, jsonAnswer, requestIdOf } from "./plain";
import type { Incoming, Outgoing } from "./transport";

/* What a web process tells Prometheus: of itself, and of the backlog, which is the same from all of them. */

const BACKLOG: Record<keyof Backlog, [name: string, help: string]> = {
  queuedJobs: ["capstan_jobs_queued", "Durable jobs that wait to be started."],
  oldestQueuedSeconds: ["capstan_jobs_queued_oldest_seconds", "How long the oldest of them has waited."],
  runningJobs: ["capstan_jobs_running", "Executions under way, those that are being canceled included."],
  waitingApprovals: ["capstan_jobs_awaiting_approval", "Jobs that wait for a person's approval."],
  runningPins: ["capstan_pinned_running", "Pinned executions under way."],
  openBulks: ["capstan_pinned_bulks_open", "Bulks that have not ended."],
  openDeliveries: [
    "capstan_webhook_deliveries_open",
    "Webhook deliveries that are sent or wait for their next try.",
  ],
};

// The web process runs our modules twice, once in Next's bundle: both count into one.
const shared = globalThis as { capstanMetrics?: ReturnType<typeof open> }; // our own slot, written only below

function open() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Histogram({
      registers,
      name: "capstan_http_request_duration_seconds",
      help: "Requests to the API by endpoint and status, until the head of the answer; what streams comes after it.",
      labelNames: ["method", "path", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    }),
    database: new Gauge({ registers, name: "capstan_database_up", help: "1: the database answers." }),
    backlog: Object.entries(BACKLOG).map(([key, [name, help]]) => ({
      key: key as keyof Backlog,
      gauge: new Gauge({ registers, name, help }),
    })),
  };
}

function metrics() {
  shared.capstanMetrics ??= open();
  return shared.capstanMetrics;
}

type Served = { method: string; path: string };
type Observer = { observe(seconds: number): void };
const observers = new WeakMap<Served, Map<number, Observer>>();

/** Counts an answer of an endpoint by its path as it is declared: no id of anybody's becomes a label. */
export function countRequest(endpoint: Served, status: number, ms: number): void {
  const own = observers.get(endpoint) ?? new Map<number, Observer>();
  if (own.size === 0) observers.set(endpoint, own);
  const observer =
    own.get(status) ?? metrics().requests.labels(endpoint.method, endpoint.path, String(status));
  own.set(status, observer);
  observer.observe(ms / 1000);
}

/**
 * `/metrics`: in Prometheus' text format, for who has METRICS_TOKEN. Without one it is open in development and not there in
 * production. What the database would tell is absent while it does not answer.
 */
export async function metricsAnswer(incoming: Incoming): Promise<Outgoing> {
  const { METRICS_TOKEN: token } = env;
  if (!token && isProduction) return refuse(incoming, 404, "NotFound", "Set METRICS_TOKEN to have metrics.");
  if (token && !isSame(incoming.header("authorization") ?? "", `Bearer ${token}`))
    return refuse(incoming, 401, "AuthenticationFailed", "Send Authorization: Bearer and METRICS_TOKEN.");
  const { registry, database, backlog: gauges } = metrics();
  const counted = await backlog();
  database.set(counted ? 1 : 0);
  for (const { key, gauge } of gauges) {
    if (counted) gauge.set(counted[key]);
    else gauge.remove();
  }
  const headers = { ...commonHeaders(requestIdOf(incoming)), "content-type": registry.contentType };
  return { status: 200, headers, body: await registry.metrics() };
}

function refuse(incoming: Incoming, status: number, code: string, message: string): Outgoing {
  return jsonAnswer(incoming, status, JSON.stringify({ detail: { code, message } }));
}
