import { Gauge, type Registry } from "prom-client";
import { type Backlog, backlog } from "@/server/domain/health";
import { metrics } from "@/server/platform/log/metrics";
import { env, isProduction } from "@/server/platform/settings/env";
import { commonHeaders, jsonAnswer, requestIdFor } from "./answers/plain";
import { isSameSecret } from "./auth";
import type { Incoming, Outgoing } from "./transport";

/* The metrics of a process for Prometheus: its own, and the backlog, which every process reports identically. */

const BACKLOG: Record<keyof Backlog, [name: string, help: string]> = {
  queuedJobs: ["capstan_jobs_queued", "Durable jobs that are waiting to start."],
  oldestQueuedSeconds: [
    "capstan_jobs_queued_oldest_seconds",
    "How long the oldest waiting durable job has waited.",
  ],
  runningJobs: ["capstan_jobs_running", "Running executions, including those being canceled."],
  waitingApprovals: ["capstan_jobs_awaiting_approval", "Jobs that are waiting for a person's approval."],
  waitingOperator: ["capstan_jobs_needs_attention", "Jobs that need an operator's attention."],
  runningPins: ["capstan_pinned_running", "Running pinned executions."],
  openBulks: ["capstan_pinned_bulks_open", "Pinned bulks that have not ended."],
  openDeliveries: [
    "capstan_webhook_deliveries_open",
    "Webhook deliveries in flight or waiting for their next attempt.",
  ],
  openMail: ["capstan_mail_open", "Emails in flight or waiting for their next attempt."],
  failedMail: ["capstan_mail_failed", "Emails that failed permanently, in the 90 days they are kept."],
  lateTasks: ["capstan_periodic_tasks_late", "Periodic tasks that have been due for more than a minute."],
  failedTasks: ["capstan_periodic_tasks_failed", "Periodic tasks whose last pass failed."],
};

/** Each gauge is created once per registry, even if this module is loaded more than once. */
function gauge(registry: Registry, name: string, help: string): Gauge {
  const known = registry.getSingleMetric(name) as Gauge | undefined; // registered here and nowhere else
  return known ?? new Gauge({ registers: [registry], name, help });
}

/**
 * `/metrics` in Prometheus' text format, for callers with METRICS_TOKEN. If it is not set, the endpoint is open in
 * development and 404 in production. Metrics read from the database are absent while it does not respond.
 */
export async function metricsAnswer(incoming: Incoming): Promise<Outgoing> {
  const { METRICS_TOKEN: token } = env;
  if (!token && isProduction)
    return refuse(incoming, 404, "NotFound", "Metrics are disabled. Set METRICS_TOKEN to enable them.");
  if (token && !isSameSecret(incoming.header("authorization") ?? "", `Bearer ${token}`))
    return refuse(
      incoming,
      401,
      "AuthenticationFailed",
      "The metrics token is missing or wrong. Send Authorization: Bearer <METRICS_TOKEN>.",
    );
  const { registry } = metrics();
  const counted = await backlog();
  gauge(registry, "capstan_database_up", "1 if the database responds, otherwise 0.").set(counted ? 1 : 0);
  for (const [key, [name, help]] of Object.entries(BACKLOG)) {
    const one = gauge(registry, name, help);
    if (counted) one.set(counted[key as keyof Backlog]);
    else one.remove();
  }
  const headers = { ...commonHeaders(requestIdFor(incoming)), "content-type": registry.contentType };
  return { status: 200, headers, body: await registry.metrics() };
}

function refuse(incoming: Incoming, status: number, code: string, message: string): Outgoing {
  return jsonAnswer(incoming, status, JSON.stringify({ detail: { code, message } }));
}
