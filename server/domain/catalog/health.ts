import { routeHealth } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { MINUTE_MS } from "@/server/platform/time/units";
import { column, int4, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type Account, routeKey, SANDBOX, type TargetOffer } from "./targets";

/*
 * Routes that keep failing go behind their healthy equals for a while, longer each time. Failures are counted per account, so
 * that a customer's bad key does not count against others. A healthy route has no row, so a success costs nothing.
 */

/** `unreachable` counts against every model of the provider, the other reasons against the model that was called. */
type FailureReason = "unreachable" | "capacity" | "failed" | "lost";

const FAILURES_BEFORE = 3;
const FIRST_MS = 30_000;
const LONGEST_MS = 15 * MINUTE_MS;
/**
 * If the last failure of a route and its last time behind are longer ago than this, its next failure counts as
 * the first.
 */
const FORGOTTEN_MS = 10 * MINUTE_MS;
/**
 * When the last read is older than this, the next request starts another, which also finds the failures of
 * other processes.
 */
const MOST_STALE_MS = 5_000;

const ROW = pick(routeHealth, "account route failures behind_until");
type Row = Of<typeof ROW>;
type Called = Pick<TargetOffer, "provider" | "model"> & { account: Account };

/** An account in one word, as rows and metrics name it. */
export const accountName = (account: Account) =>
  typeof account === "object" ? account.credentialId : account;
const nameOf = (account: string, route: string) => `${account} ${route}`;

let known = new Map<string, Row>();
let readAt = Number.NEGATIVE_INFINITY;
let reading: Promise<void> | null = null;

const listFailing = statement("route_health.list", {
  row: ROW,
  sql: `SELECT account, route, failures, behind_until FROM route_health`,
});

/** Reads the failing routes from the database into this process. */
export async function readHealth(): Promise<void> {
  const rows = await listFailing.all(pool, {});
  known = new Map(rows.map((row) => [nameOf(row.account, row.route), row]));
  readAt = performance.now();
}

/**
 * Reads the failing routes again when the last read is too old. Callers wait only for the first read of the
 * process.
 */
async function refresh(): Promise<void> {
  if (performance.now() - readAt < MOST_STALE_MS) return;
  reading ??= readHealth()
    .catch((err) => log.warn({ err }, "the health of routes could not be read"))
    .finally(() => {
      reading = null;
    });
  if (readAt === Number.NEGATIVE_INFINITY) await reading;
}

/** The two names under which failures of this route are counted: its provider and its model. */
function namesOf({ provider, model, account }: Called): string[] {
  const of = accountName(account);
  return [nameOf(of, provider.name), nameOf(of, routeKey({ provider, model }))];
}

/** Returns a function that is true for a route that goes behind its equals now. */
export async function healthNow(now: Date): Promise<(offer: TargetOffer) => boolean> {
  await refresh();
  return (offer) =>
    namesOf(offer).some((name) => {
      const until = known.get(name)?.behind_until;
      return until != null && until > now;
    });
}

const recordFailure = statement("route_health.save.failure", {
  params: {
    account: routeHealth.account,
    route: routeHealth.route,
    reason: routeHealth.reason,
    now: timestamptz,
    forgottenMs: column<number>("float8"),
    failuresBefore: int4,
    firstMs: column<number>("float8"),
    longestMs: column<number>("float8"),
  },
  row: ROW,
  sql: `INSERT INTO route_health AS known (account, route, failures, reason, last_failed_at, behind_until)
       VALUES ($account, $route, 1, $reason, $now, NULL)
       ON CONFLICT (account, route) DO UPDATE SET
         failures = CASE WHEN greatest(known.last_failed_at, known.behind_until) < $now::timestamptz - $forgottenMs * interval '1 ms'
           THEN 1 ELSE known.failures + 1 END,
         reason = $reason, last_failed_at = $now,
         behind_until = CASE
           WHEN greatest(known.last_failed_at, known.behind_until) < $now::timestamptz - $forgottenMs * interval '1 ms' THEN NULL
           WHEN known.failures + 1 < $failuresBefore THEN NULL
           -- What was sent before it went behind says nothing new.
           WHEN known.behind_until > $now THEN known.behind_until
           ELSE $now::timestamptz + least($firstMs * power(2, least(known.failures + 1 - $failuresBefore, 20)), $longestMs) * interval '1 ms' END
       RETURNING account, route, failures, behind_until`,
});

/**
 * Records that a call failed for a reason of the provider. Never throws, because a failed write must not change
 * how the call ends.
 */
export async function recordRouteFailure(called: Called, reason: FailureReason, now: Date): Promise<void> {
  if (called.provider.name === SANDBOX) return; // the sandbox fails whenever a request asks for it
  const route = reason === "unreachable" ? called.provider.name : routeKey(called);
  try {
    const rows = await recordFailure.all(pool, {
      account: accountName(called.account),
      route,
      reason,
      now,
      forgottenMs: FORGOTTEN_MS,
      failuresBefore: FAILURES_BEFORE,
      firstMs: FIRST_MS,
      longestMs: LONGEST_MS,
    });
    for (const row of rows) known.set(nameOf(row.account, row.route), row);
  } catch (err) {
    log.warn({ err }, "the failure of a route could not be recorded");
  }
}

const forgetFailures = statement("route_health.delete.answered", {
  params: { account: text, route: text },
  sql: `DELETE FROM route_health WHERE account = $account AND route = $route`,
});

/**
 * Records that a call was answered: deletes the failures of its route that this process knows of, if any. Never
 * throws.
 */
export async function noteSuccess(called: Called): Promise<void> {
  const failing = namesOf(called).flatMap((name) => known.get(name) ?? []);
  if (failing.length === 0) return;
  try {
    for (const { account, route } of failing) {
      await forgetFailures.run(pool, { account, route });
      known.delete(nameOf(account, route));
    }
  } catch (err) {
    log.warn({ err }, "the recovery of a route could not be recorded");
  }
}
