import { openContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { delivery, deliveryAttempt, deliveryEndpoint } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { jittered, type RetryResult, retryUntilTerminal, whenDue } from "@/server/platform/durable/retry";
import type { Step } from "@/server/platform/durable/step";
import { postText } from "@/server/platform/http";
import { log } from "@/server/platform/log/log";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@/server/platform/time/units";
import { int4, maybe, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { addressRules } from "./address";
import { DELIVERY_REDISPATCH_MS, wakeDeliveries } from "./dispatch";
import { switchOff } from "./endpoints";
import { endpointSecret } from "./secrets";
import { signedHeaders } from "./sign";

const SECOND_MS = 1_000;
/**
 * The waits after the first, second and later failures. The failure that follows the last wait makes the delivery fail
 * for good.
 */
export const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
] as const;
const TIMEOUT_MS = 15 * SECOND_MS;
/** A sender that has stored no outcome for this long is presumed dead, and its delivery is sent again. */
const LEASE_MS = MINUTE_MS;

/**
 * Runs one delivery: try, wait and try again until it ends. The row decides at every step, so a second run of the same
 * delivery changes nothing, and the sweeper replaces a lost run. A delivery arrives at least once: if a sender dies
 * after sending and before storing the outcome, the event is sent again under the same id.
 */
export function deliver(ctx: Ctx, deliveryId: string, step: Step): Promise<void> {
  return retryUntilTerminal(step, () => attempt(ctx, deliveryId));
}

const CLAIMED = {
  ...pick(delivery, "id endpoint_id event_id body is_sealed state failures created_at lease_until"),
  ...pick(deliveryEndpoint, "url secret"),
};
type Claimed = Of<typeof CLAIMED>;

const claimDelivery = statement("delivery.claim.due", {
  params: { deliveryId: text, now: timestamptz },
  row: CLAIMED,
  sql: `UPDATE delivery SET state = CASE WHEN endpoint.enabled THEN 'delivering' ELSE 'disabled' END,
       lease_until = CASE WHEN endpoint.enabled THEN ${leaseFor(LEASE_MS)} END,
       next_attempt_at = CASE WHEN endpoint.enabled THEN delivery.next_attempt_at END,
       completed_at = CASE WHEN endpoint.enabled THEN NULL ELSE $now::timestamptz END
     FROM delivery_endpoint endpoint
     WHERE delivery.id = $deliveryId AND endpoint.id = delivery.endpoint_id AND delivery.state = 'pending'
       AND delivery.next_attempt_at <= $now
     RETURNING delivery.id, endpoint_id, event_id, body, is_sealed, state, failures, delivery.created_at, lease_until, url, secret`,
});

/**
 * Claims a delivery that is due, or ends it if its endpoint is disabled. Returns null if the delivery is not due, has
 * ended, or is claimed by another sender.
 */
async function claim(deliveryId: string, now: Date): Promise<Claimed | null> {
  return claimDelivery.first(pool, { deliveryId, now });
}

/** Tries a due delivery once and stores the outcome. The result tells whether to try again, and when. */
export async function attempt(ctx: Ctx, deliveryId: string): Promise<RetryResult> {
  const startedAt = ctx.now();
  const claimed = await claim(deliveryId, startedAt);
  if (!claimed) return later(deliveryId, startedAt);
  if (claimed.state === "disabled") return { state: "ended" };
  const started = performance.now();
  const body = openContent({ ...claimed, content: claimed.body });
  const outcome =
    body === null ? { status: null, error: "The body was removed." } : await send(claimed, body, startedAt);
  const durationMs = Math.round(performance.now() - started);
  return record(ctx, claimed, { ...outcome, startedAt, durationMs });
}

const nextAttempt = statement("delivery.read.next_attempt", {
  params: { deliveryId: text },
  row: pick(delivery, "next_attempt_at"),
  sql: `SELECT next_attempt_at FROM delivery WHERE id = $deliveryId AND state = 'pending'`,
});

async function later(deliveryId: string, now: Date): Promise<RetryResult> {
  const found = await nextAttempt.first(pool, { deliveryId });
  return whenDue(found?.next_attempt_at ?? null, now);
}

function send(claimed: Claimed, body: string, now: Date) {
  const secret = endpointSecret({ id: claimed.endpoint_id, secret: claimed.secret });
  const headers = {
    "content-type": "application/json",
    ...signedHeaders(secret, claimed.event_id, body, now),
  };
  return postText(claimed.url, body, headers, { ...addressRules(), signal: AbortSignal.timeout(TIMEOUT_MS) });
}

type Try = { status: number | null; error: string | null; startedAt: Date; durationMs: number };

const GONE = 410;

const recordAttempt = statement("delivery.record.attempt", {
  params: {
    deliveryId: text,
    leaseUntil: delivery.lease_until,
    state: text,
    next: maybe(timestamptz),
    leaseMs: maybe(int4),
    now: timestamptz,
    status: delivery.last_status,
    error: delivery.last_error,
    startedAt: timestamptz,
    durationMs: deliveryAttempt.duration_ms,
  },
  row: { state: delivery.state, next_id: maybe(text) },
  sql: `WITH written AS (
       UPDATE delivery SET attempts = attempts + 1, failures = failures + CASE WHEN $state::text = 'succeeded' THEN 0 ELSE 1 END,
         state = CASE WHEN $state::text = 'pending' AND NOT endpoint.enabled THEN 'disabled' ELSE $state::text END,
         next_attempt_at = CASE WHEN endpoint.enabled THEN $next::timestamptz END,
         lease_until = CASE WHEN endpoint.enabled THEN ${leaseFor("$leaseMs::int")} END,
         completed_at = CASE WHEN $state::text = 'pending' AND endpoint.enabled THEN NULL ELSE $now::timestamptz END,
         last_status = $status, last_error = $error
       FROM delivery_endpoint endpoint
       WHERE delivery.id = $deliveryId AND endpoint.id = delivery.endpoint_id
         AND delivery.state = 'delivering' AND delivery.lease_until = $leaseUntil
       RETURNING delivery.id, delivery.endpoint_id, delivery.job_id, delivery.attempts, delivery.state
     ), following AS (
       UPDATE delivery SET lease_until = ${leaseFor(DELIVERY_REDISPATCH_MS)} FROM written
       WHERE written.attempts = 1 AND delivery.lease_until IS NULL AND delivery.state = 'pending' AND delivery.id = (
         SELECT later.id FROM delivery later
         WHERE later.job_id = written.job_id AND later.endpoint_id = written.endpoint_id AND later.id > written.id
           AND later.attempts = 0 AND later.state = 'pending'
         ORDER BY later.id LIMIT 1)
       RETURNING delivery.id
     ), logged AS (
       INSERT INTO delivery_attempt (delivery_id, number, started_at, duration_ms, http_status, error)
       SELECT id, attempts, $startedAt, $durationMs, $status, $error FROM written
     )
     SELECT state, (SELECT id FROM following) AS next_id FROM written`,
});

async function record(ctx: Ctx, claimed: Claimed, made: Try): Promise<RetryResult> {
  const { status } = made;
  const hasArrived = status !== null && status >= 200 && status < 300;
  const error = hasArrived ? null : (made.error ?? refusalOf(status));
  const waitMs = hasArrived || status === GONE ? undefined : WAITS_MS[claimed.failures];
  const afterMs = waitMs === undefined ? null : jittered(waitMs);
  const now = ctx.now();
  const state = hasArrived ? "succeeded" : afterMs === null ? "failed" : "pending";
  const next = afterMs === null ? null : new Date(now.getTime() + afterMs);
  const rows = await recordAttempt.all(pool, {
    deliveryId: claimed.id,
    leaseUntil: claimed.lease_until,
    state,
    next,
    leaseMs: afterMs === null ? null : afterMs + DELIVERY_REDISPATCH_MS,
    now,
    status,
    error,
    startedAt: made.startedAt,
    durationMs: made.durationMs,
  });
  const [written] = rows;
  if (written?.state === "failed") await disableIfDead(claimed, status, now);
  if (written?.next_id) await wakeNext(claimed.endpoint_id, written.next_id, now);
  return written?.state === "pending" && afterMs !== null ? { state: "again", afterMs } : { state: "ended" };
}

/** Hands the job's next event for this endpoint to the engine. If this fails, the sweeper repeats it. */
async function wakeNext(endpointId: string, nextId: string, now: Date): Promise<void> {
  await wakeDeliveries([{ id: nextId, endpoint_id: endpointId }], now).catch((cause) =>
    log.warn({ err: cause, deliveryId: nextId }, "a delivery was not queued; the sweeper will queue it"),
  );
}

function refusalOf(status: number | null): string {
  return status !== null && status >= 300 && status < 400
    ? `The receiver answered with a redirect (HTTP ${status}), and redirects are not followed.`
    : `The receiver answered HTTP ${status}.`;
}

const succeededSince = statement("delivery.find.succeeded_since", {
  params: { endpointId: text, since: timestamptz },
  sql: `SELECT FROM delivery WHERE endpoint_id = $endpointId AND state = 'succeeded' AND completed_at >= $since LIMIT 1`,
});

/**
 * Disables an endpoint that answered 410, or that accepted no delivery between the creation and the last try of this
 * one.
 */
async function disableIfDead(claimed: Claimed, status: number | null, now: Date): Promise<void> {
  if (status === GONE) return switchOff(claimed.endpoint_id, "The receiver answered HTTP 410 (gone).", now);
  if (claimed.failures < WAITS_MS.length) return;
  const rowCount = await succeededSince.count(pool, {
    endpointId: claimed.endpoint_id,
    since: claimed.created_at,
  });
  if (rowCount) return;
  const tries = WAITS_MS.length + 1;
  const reason = `A delivery failed ${tries} times over more than a day, and no other delivery succeeded in that time.`;
  await switchOff(claimed.endpoint_id, reason, now);
}
