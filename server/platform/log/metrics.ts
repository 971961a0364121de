import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

/*
 * Counters of a process's own work, for Prometheus. Labels are fixed words: no text of a caller, and no id except that of a
 * connected account, of which a process names at most MOST_ACCOUNTS.
 */
const MOST_ACCOUNTS = 500;

// The web process loads our modules twice, once in Next's bundle; both count into the same registry.
const shared = globalThis as { capstanMetrics?: ReturnType<typeof open> }; // our own property, written only below

function open() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Histogram({
      registers,
      name: "capstan_http_request_duration_seconds",
      help: "API requests by endpoint and status, timed until the response headers are sent; a streamed body is not included.",
      labelNames: ["method", "path", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    }),
    calls: new Histogram({
      registers,
      name: "capstan_provider_call_duration_seconds",
      help: "Provider calls by outcome; each poll of running work is a separate call.",
      labelNames: ["provider", "outcome"],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    }),
    accountCalls: new Counter({
      registers,
      name: "capstan_provider_account_calls_total",
      help: "Provider calls by the account they were made with (operator, sandbox, or the id of a connection) and outcome.",
      labelNames: ["provider", "account", "outcome"],
    }),
    /** Accounts that have a label so far. */
    accounts: new Set(["operator", "sandbox"]),
    ended: new Counter({
      registers,
      name: "capstan_executions_ended_total",
      help: "Executions that this process finished, by mode, status and error code.",
      labelNames: ["mode", "status", "code"],
    }),
    unknownFinish: new Counter({
      registers,
      name: "capstan_provider_unknown_finish_total",
      help: "Whole answers that ended for a reason that is not known here.",
      labelNames: ["provider"],
    }),
    exposure: new Counter({
      registers,
      name: "capstan_provider_exposure_micros_total",
      help: "The most that providers may charge the operator for failed calls that no customer pays for, in micros of a US dollar.",
      labelNames: ["provider"],
    }),
  };
}

/** The metrics of this process, created on first use. */
export function metrics() {
  shared.capstanMetrics ??= open();
  return shared.capstanMetrics;
}

type Served = { method: string; path: string };
type Observer = { observe(seconds: number): void };
const observers = new WeakMap<Served, Map<number, Observer>>();

/** Counts a response by the declared path of its endpoint, so that no id becomes a label. */
export function countAnswer(endpoint: Served, status: number, ms: number): void {
  const own = observers.get(endpoint) ?? new Map<number, Observer>();
  if (own.size === 0) observers.set(endpoint, own);
  const observer =
    own.get(status) ?? metrics().requests.labels(endpoint.method, endpoint.path, String(status));
  own.set(status, observer);
  observer.observe(ms / 1000);
}

/** The label of an account: after MOST_ACCOUNTS, connections without a label share one. */
function accountLabel(account: string): string {
  const { accounts } = metrics();
  if (accounts.size < MOST_ACCOUNTS) accounts.add(account);
  return accounts.has(account) ? account : "others";
}

/** Records the duration and outcome of a provider call with this account; `kindOf` names the kind of a failure. */
export async function timeCall<Answer>(
  { provider, account }: { provider: string; account: string },
  call: () => Promise<Answer>,
  kindOf: (cause: unknown) => string,
): Promise<Answer> {
  const begun = performance.now();
  let outcome = "answered";
  try {
    return await call();
  } catch (cause) {
    outcome = kindOf(cause);
    throw cause;
  } finally {
    metrics()
      .calls.labels(provider, outcome)
      .observe((performance.now() - begun) / 1000);
    metrics().accountCalls.labels(provider, accountLabel(account), outcome).inc();
  }
}

/** Counts an execution that this process has finished; without an error its code is empty. */
export function countEnd(mode: string, status: string, code: string | null): void {
  metrics()
    .ended.labels(mode, status, code ?? "")
    .inc();
}

/** Counts answers that ended for a reason that is unknown here. */
export function countUnknownFinish(provider: string): void {
  metrics().unknownFinish.labels(provider).inc();
}

/** Counts what a provider may charge the operator for a failed call that the customer does not pay for. */
export function countExposure(provider: string, micros: number): void {
  if (micros > 0) metrics().exposure.labels(provider).inc(micros);
}
