import { Gauge, type Registry } from "prom-client";
import { type Backlog, backlog } from "@/server/domain/health";
import { env, isProduction } from "@/server/env";
import { metrics } from "@/server/metrics";
import { isSame } from "./auth";
import { commonHeaders, jsonAnswer, requestIdOf } from "./plain";
import type { Incoming, Outgoing } from "./transport";

/* What a process tells Prometheus: of itself, and of the backlog, which is the same from all of them. */

const BACKLOG: Record<keyof Backlog, [name: string, help: string]> = {
  queuedJobs: ["capstan_jobs_queued", "Durable jobs that wait to be started."],
  oldestQueuedSeconds: ["capstan_jobs_queued_oldest_seconds", "How long the oldest of them has waited."],
  runningJobs: ["capstan_jobs_running", "Executions under way, those that are being canceled included."],
  waitingApprovals: ["capstan_jobs_awaiting_approval", "Jobs that wait for a person's approval."],
  waitingOperator: ["capstan_jobs_needs_attention", "Jobs that wait for an operator."],
  runningPins: ["capstan_pinned_running", "Pinned executions under way."],
  openBulks: ["capstan_pinned_bulks_open", "Bulks that have not ended."],
  openDeliveries: [
    "capstan_webhook_deliveries_open",
    "Webhook deliveries that are sent or wait for their next try.",
  ],
  openMail: ["capstan_mail_open", "Mails that are sent or wait for their next attempt."],
  failedMail: ["capstan_mail_failed", "Mails that were given up, in the 90 days they are kept."],
};

/** The gauges are made once for a registry, however many copies of this module there are. */
function gauge(registry: Registry, name: string, help: string): Gauge {
  const known = registry.getSingleMetric(name) as Gauge | undefined; // registered here and nowhere else
  return known ?? new Gauge({ registers: [registry], name, help });
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
  const { registry } = metrics();
  const counted = await backlog();
  gauge(registry, "capstan_database_up", "1: the database answers.").set(counted ? 1 : 0);
  for (const [key, [name, help]] of Object.entries(BACKLOG)) {
    const one = gauge(registry, name, help);
    if (counted) one.set(counted[key as keyof Backlog]);
    else one.remove();
  }
  const headers = { ...commonHeaders(requestIdOf(incoming)), "content-type": registry.contentType };
  return { status: 200, headers, body: await registry.metrics() };
}

function refuse(incoming: Incoming, status: number, code: string, message: string): Outgoing {
  return jsonAnswer(incoming, status, JSON.stringify({ detail: { code, message } }));
}
