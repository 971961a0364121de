import { sendEvents } from "@/inngest/client";
import { notHeld } from "@/server/domain/restores";
import { delivery } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { maybe, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";

/** At most this many deliveries of one endpoint are with the engine at once. The rest wait in their rows. */
const MOST_UNDER_WAY = 100;
const MOST_LOOKED_AT = 5_000;
/** A delivery that the engine has not begun within this time is handed over again. */
export const DELIVERY_REDISPATCH_MS = 120_000;

const WAKE = pick(delivery, "id endpoint_id");
const claimDue = statement("delivery.claim.due_for_engine", {
  params: { now: timestamptz, endpointId: maybe(text), projectId: maybe(text) },
  row: WAKE,
  sql: `WITH due AS (
       SELECT id, endpoint_id, coalesce(lease_until > clock_timestamp(), false) AS is_under_way FROM delivery
       WHERE (state IN ('pending', 'delivering')) IS TRUE AND next_attempt_at <= $now AND ($endpointId::text IS NULL OR endpoint_id = $endpointId)
         AND ($projectId::text IS NULL OR project_id = $projectId) AND ${notHeld("deliveries")}
         AND NOT EXISTS (SELECT FROM delivery earlier
           WHERE earlier.job_id = delivery.job_id AND earlier.endpoint_id = delivery.endpoint_id
             AND earlier.id < delivery.id AND earlier.attempts = 0 AND earlier.state IN ('pending', 'delivering'))
       ORDER BY next_attempt_at LIMIT ${MOST_LOOKED_AT}
     ), placed AS (
       SELECT id, is_under_way, row_number() OVER (PARTITION BY endpoint_id ORDER BY is_under_way DESC, id) AS place
       FROM due
     )
     UPDATE delivery SET state = 'pending', lease_until = ${leaseFor(DELIVERY_REDISPATCH_MS)} FROM placed
     WHERE delivery.id = placed.id AND NOT placed.is_under_way AND placed.place <= ${MOST_UNDER_WAY}
       AND delivery.state IN ('pending', 'delivering') AND (delivery.lease_until IS NULL OR delivery.lease_until <= clock_timestamp())
     RETURNING delivery.id, delivery.endpoint_id`,
});

/**
 * Hands due deliveries to the durable engine, oldest first: new ones, ones whose run was lost, and ones whose sender
 * died before storing the outcome. The number for one endpoint is limited. Of a job's untried events for one endpoint,
 * only the first is handed over, and each first try hands over the next. Returns the number of deliveries handed over.
 */
export async function dispatchDue(
  now: Date,
  only: { projectId?: string; endpointId?: string } = {},
): Promise<number> {
  const rows = await claimDue.all(pool, {
    now,
    ...only,
  });
  await wakeDeliveries(
    rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    now,
  );
  return rows.length;
}

type Wake = Of<typeof WAKE>;

/** Tells the engine about deliveries that are already marked as handed over. */
export function wakeDeliveries(rows: Wake[], now: Date): Promise<void> {
  return sendEvents(
    rows.map(({ id, endpoint_id }) => ({
      // Each handover has its own id, so that no engine drops it as a duplicate.
      id: `delivery:${id}:${now.getTime()}`,
      name: "delivery/due" as const,
      data: { deliveryId: id, endpointId: endpoint_id },
    })),
  );
}
