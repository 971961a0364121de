import type { StoredContent } from "@/server/domain/content";
import { goodFrom } from "@/server/domain/executions";
import { inTransaction, pool, type Queryable, relaxedPool } from "@/server/platform/db";
import { leaseFor } from "@/server/sql/leases";
import type { RecordRow } from "../record";

/*
 * The writes to a bulk while a worker runs it. Its items are only claimed and canceled here; their other ends
 * are written where executions end.
 */

/**
 * A worker that does not renew for this long loses its bulk. A freed bulk whose wake is lost is woken again
 * after this time.
 */
export const BULK_LEASE_MS = 15_000;

export type Taken = { fence: number };

/**
 * Takes a bulk that has no worker and raises its fence, so that its earlier worker claims nothing more. Null
 * if it has a worker or has ended.
 */
export async function takeBulk(bulkId: string, owner: string, now: Date): Promise<Taken | null> {
  const { rows } = await pool.query<Taken>({
    name: "take-bulk",
    text: `UPDATE pinned_bulk SET fence = fence + 1, status = 'running', started_at = coalesce(started_at, $3),
             lease_owner = $2, lease_until = ${leaseFor(BULK_LEASE_MS)}
           WHERE id = $1 AND status IN ('accepted', 'running') AND (lease_owner IS NULL OR lease_until < clock_timestamp())
           RETURNING fence`,
    values: [bulkId, owner, now],
  });
  return rows[0] ?? null;
}

/** A claimed item: it is running under `fence`. */
export type ClaimedItem = RecordRow & {
  fence: number;
  started_at: Date;
  /** The stored content; null if there is none. */
  input: StoredContent | null;
  /** The moment until which its lease certainly lasts, on this process's monotonic clock. */
  goodUntil: number;
};

/**
 * Claims the next items of a bulk, at most `wanted` and never more running than its width. A crash of the
 * database may lose a claim, which does no harm: a submission is stored durably before anything is sent.
 */
export async function claimItems(
  bulk: { id: string; fence: number },
  { wanted, owner, leaseMs, now }: { wanted: number; owner: string; leaseMs: number; now: Date },
): Promise<ClaimedItem[]> {
  type Row = RecordRow & { fence: number; started_at: Date; input_id: string | null } & Omit<
      StoredContent,
      "id"
    >;
  const goodUntil = goodFrom(performance.now(), leaseMs);
  const { rows } = await relaxedPool.query<Row>({
    name: "claim-items",
    text: `SELECT item.id, item.project_id, item.organization_id, item.environment, item.principal_id, item.principal_kind,
             item.submitted_by, item.bulk_id, item.item_id, item.request_hash, item.input_hash, item.maximum_micros, item.is_test,
             item.created_at, item.started_at, item.fence, payload.id AS input_id, payload.content, payload.is_sealed
           FROM capstan_claim_items($1, $2, $3, $4, $5, $6) item
           LEFT JOIN payload ON payload.pinned_id = item.id AND payload.kind = 'request'`,
    values: [bulk.id, bulk.fence, owner, wanted, after(now, leaseMs), now],
  });
  return rows.map(({ input_id, content, is_sealed, ...row }) => ({
    ...row,
    goodUntil,
    input: input_id === null ? null : { id: input_id, content, is_sealed },
  }));
}

export type BulkState = {
  status: string;
  fence: number;
  lanes: number;
  isCanceled: boolean;
  /** `isWaiting`: there are unclaimed items. `isUnderWay`: there are running items. */
  isWaiting: boolean;
  isUnderWay: boolean;
};

/** The progress of a bulk; null if there is no such bulk. */
export async function bulkStateOf(bulkId: string): Promise<BulkState | null> {
  const { rows } = await pool.query<BulkState>({
    name: "bulk-standing",
    text: `SELECT status, fence, lanes, cancel_requested_at IS NOT NULL AS "isCanceled",
             EXISTS (SELECT FROM pinned_execution item WHERE item.bulk_id = bulk.id AND (item.status = 'queued') IS TRUE) AS "isWaiting",
             EXISTS (SELECT FROM pinned_execution item WHERE item.bulk_id = bulk.id AND (item.status = 'running') IS TRUE) AS "isUnderWay"
           FROM pinned_bulk bulk WHERE id = $1`,
    values: [bulkId],
  });
  return rows[0] ?? null;
}

/** Renews the lease of a bulk; null if another worker has taken the bulk or it has ended. */
export async function renewBulk(bulk: {
  id: string;
  fence: number;
}): Promise<{ isCanceled: boolean } | null> {
  const { rows } = await relaxedPool.query<{ isCanceled: boolean }>({
    name: "renew-bulk",
    text: `UPDATE pinned_bulk SET lease_until = greatest(lease_until, ${leaseFor(BULK_LEASE_MS)})
           WHERE id = $1 AND fence = $2 AND status = 'running'
           RETURNING cancel_requested_at IS NOT NULL AS "isCanceled"`,
    values: [bulk.id, bulk.fence],
  });
  return rows[0] ?? null;
}

/**
 * Frees a bulk while its run sleeps for this long. The lease outlasts the sleep, so the sweeper does not wake
 * the bulk; the run continues under the same fence, perhaps in another process.
 */
export async function restBulk(bulk: { id: string; fence: number }, forMs: number): Promise<void> {
  await relaxedPool.query({
    name: "rest-bulk",
    text: `UPDATE pinned_bulk SET lease_owner = NULL, lease_until = ${leaseFor("$3::int")}
           WHERE id = $1 AND fence = $2 AND status = 'running'`,
    values: [bulk.id, bulk.fence, forMs + BULK_LEASE_MS],
  });
}

/** Frees a bulk that is to be woken anew; null if another worker has it or it has ended. */
export async function letGo(bulk: {
  id: string;
  fence: number;
}): Promise<{ projectId: string; dispatchNumber: number } | null> {
  const { rows } = await pool.query<{ projectId: string; dispatchNumber: number }>(
    `UPDATE pinned_bulk SET lease_owner = NULL, lease_until = ${leaseFor(BULK_LEASE_MS)}, dispatch_number = dispatch_number + 1
     WHERE id = $1 AND fence = $2 AND status = 'running'
     RETURNING project_id AS "projectId", dispatch_number AS "dispatchNumber"`,
    [bulk.id, bulk.fence],
  );
  return rows[0] ?? null;
}

/** Halves the width, but not below one, or raises it by one, up to the requested concurrency. */
export async function changeWidth(bulk: { id: string; fence: number }, by: "halve" | "raise"): Promise<void> {
  const lanes = by === "halve" ? "greatest(1, lanes / 2)" : "least(concurrency, lanes + 1)";
  await relaxedPool.query({
    name: `lanes-${by}`,
    text: `UPDATE pinned_bulk SET lanes = ${lanes} WHERE id = $1 AND fence = $2 AND status = 'running'`,
    values: [bulk.id, bulk.fence],
  });
}

/**
 * Ends a bulk whose items have all ended; its status follows from theirs. False if some have not ended, or if
 * the bulk had ended before. An ended item stays ended, so the count is final.
 */
export async function endBulk(bulkId: string, now: Date): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: "end-bulk",
    text: `UPDATE pinned_bulk SET completed_at = $2, lease_owner = NULL, lease_until = NULL,
             status = CASE WHEN counted.succeeded = item_count THEN 'succeeded'
               WHEN counted.succeeded = 0 THEN 'failed' ELSE 'partial' END
           FROM (SELECT count(*) FILTER (WHERE status = 'succeeded') AS succeeded,
                   count(*) FILTER (WHERE status IN ('queued', 'running')) AS unfinished
                 FROM pinned_execution WHERE bulk_id = $1) counted
           WHERE id = $1 AND status IN ('accepted', 'running') AND counted.unfinished = 0`,
    values: [bulkId, now],
  });
  return rowCount === 1;
}

/**
 * Cancels the unclaimed items of a bulk and ends further claims. False if a cancel was requested before or
 * the bulk has ended.
 */
export async function cancelItems(bulkId: string, now: Date): Promise<boolean> {
  return inTransaction(async (client) => {
    // Takes the lock under which items are claimed: no claim begins after it, and earlier claims are
    // committed.
    const { rowCount } = await client.query(
      `UPDATE pinned_bulk SET cancel_requested_at = $2
       WHERE id = $1 AND cancel_requested_at IS NULL AND status IN ('accepted', 'running')`,
      [bulkId, now],
    );
    if (rowCount === 0) return false;
    await cancelWaiting(bulkId, now, client);
    return true;
  });
}

/** Cancels the unclaimed items of a bulk with a requested cancel, including items put back since. */
export async function cancelWaiting(bulkId: string, now: Date, database: Queryable = pool): Promise<void> {
  await database.query({
    name: "cancel-waiting",
    text: `UPDATE pinned_execution item SET status = 'canceled', completed_at = $2, safely_retryable = true
           WHERE bulk_id = $1 AND (status = 'queued') IS TRUE
             AND EXISTS (SELECT FROM pinned_bulk bulk WHERE bulk.id = $1 AND cancel_requested_at IS NOT NULL)`,
    values: [bulkId, now],
  });
}

const after = (now: Date, ms: number) => new Date(now.getTime() + ms);
