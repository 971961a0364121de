import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { ProviderFault } from "@/server/providers/define";

/* What a process counts of its own work, for Prometheus. Labels are words of ours: no id and nothing a caller wrote. */

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
    calls: new Histogram({
      registers,
      name: "capstan_provider_call_duration_seconds",
      help: "Calls to providers by what they came to; asking again for work under way is a call of its own.",
      labelNames: ["provider", "outcome"],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    }),
    ended: new Counter({
      registers,
      name: "capstan_executions_ended_total",
      help: "Executions this process ended, by mode, status and error code.",
      labelNames: ["mode", "status", "code"],
    }),
  };
}

/** The metrics of this process; made when first asked for. */
export function metrics() {
  shared.capstanMetrics ??= open();
  return shared.capstanMetrics;
}

type Served = { method: string; path: string };
type Observer = { observe(seconds: number): void };
const observers = new WeakMap<Served, Map<number, Observer>>();

/** Counts an answer of an endpoint by its path as it is declared: no id of anybody's becomes a label. */
export function countAnswer(endpoint: Served, status: number, ms: number): void {
  const own = observers.get(endpoint) ?? new Map<number, Observer>();
  if (own.size === 0) observers.set(endpoint, own);
  const observer =
    own.get(status) ?? metrics().requests.labels(endpoint.method, endpoint.path, String(status));
  own.set(status, observer);
  observer.observe(ms / 1000);
}

/** Counts how long a call to this provider took, and what it came to. */
export async function timeCall<Answer>(provider: string, call: () => Promise<Answer>): Promise<Answer> {
  const begun = performance.now();
  let outcome = "answered";
  try {
    return await call();
  } catch (cause) {
    outcome = outcomeOf(cause);
    throw cause;
  } finally {
    metrics()
      .calls.labels(provider, outcome)
      .observe((performance.now() - begun) / 1000);
  }
}

/** A fault's kind; what we ended ourselves is stopped, and what is no fault of a call broke on our side. */
function outcomeOf(cause: unknown): string {
  if (!(cause instanceof ProviderFault)) return "broken";
  return cause.details.aborted ? "stopped" : cause.kind;
}

/** Counts an execution that this process has ended, by its mode; without an error its code is empty. */
export function countEnd(mode: string, status: string, code: string | null): void {
  metrics()
    .ended.labels(mode, status, code ?? "")
    .inc();
}
