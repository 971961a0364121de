import type { StoredContent } from "@/server/domain/content";
import { goodFrom } from "@/server/domain/executions";
import { payload, pinnedBulk, pinnedExecution } from "@/server/generated/schema";
import { inTransaction, pool, type Queryable, relaxedPool } from "@/server/platform/db";
import {
  bool,
  int4,
  maybe,
  names,
  type Of,
  pick,
  present,
  text,
  timestamptz,
  untraced,
} from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { RECORD_ROW } from "../record";
import { WAKE, WAKE_COLUMNS, type Wake } from "./dispatch";

/*
 * The writes to a bulk while a worker runs it. Of the writes to its items, only claims and cancels are here;
 * the others are in ../transitions.ts, ../sweep.ts and ../never-sent.ts.
 */

/**
 * A worker that does not renew for this long loses its bulk. A freed bulk whose wake is lost is woken again
 * after this time.
 */
const BULK_LEASE_MS = 15_000;

/** A bulk under the fence of its worker's claim. */
const HELD = pick(pinnedBulk, "id fence");
type HeldBulk = Of<typeof HELD>;
const IS_HELD = "id = $id AND fence = $fence AND status = 'running'";

const take = statement("bulk.take", {
  params: { bulkId: text, owner: text, now: timestamptz },
  row: pick(pinnedBulk, "fence"),
  prepared: true,
  sql: `UPDATE pinned_bulk SET fence = fence + 1, status = 'running', started_at = coalesce(started_at, $now),
      lease_owner = $owner, lease_until = ${leaseFor(BULK_LEASE_MS)}
    WHERE id = $bulkId AND status IN ('accepted', 'running') AND (lease_owner IS NULL OR lease_until < clock_timestamp())
    RETURNING fence`,
});

/**
 * Takes a bulk that has no worker and raises its fence, so that its earlier worker claims nothing more. Null
 * if it has a worker or has ended.
 */
export const takeBulk = (bulkId: string, owner: string, now: Date): Promise<{ fence: number } | null> =>
  take.first(pool, { bulkId, owner, now });

const ITEM = {
  ...untraced(
    { ...RECORD_ROW, ...pick(pinnedExecution, "fence") },
    "capstan_claim_items returns rows of its table",
  ),
  started_at: present(pinnedExecution.started_at, "capstan_claim_items sets it"),
};
const claim = statement("bulk.claim.items", {
  params: {
    bulkId: text,
    fence: int4,
    owner: text,
    wanted: int4,
    until: timestamptz,
    now: timestamptz,
  },
  row: {
    ...ITEM,
    input_id: maybe(payload.id),
    content: payload.content,
    is_sealed: maybe(payload.is_sealed),
  },
  prepared: true,
  sql: `SELECT ${names(ITEM, "item")}, payload.id AS input_id, payload.content, payload.is_sealed
    FROM capstan_claim_items($bulkId, $fence, $owner, $wanted, $until, $now) item
    LEFT JOIN payload ON payload.pinned_id = item.id AND payload.kind = 'request'`,
});

/** A claimed item: it is running under `fence`. */
export type ClaimedItem = Of<typeof ITEM> & {
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
  const goodUntil = goodFrom(performance.now(), leaseMs);
  const until = after(now, leaseMs);
  const rows = await claim.all(relaxedPool, {
    bulkId: bulk.id,
    fence: bulk.fence,
    owner,
    wanted,
    until,
    now,
  });
  return rows.map(({ input_id, content, is_sealed, ...row }) => ({
    ...row,
    goodUntil,
    input: input_id === null ? null : { id: input_id, content, is_sealed: is_sealed ?? false },
  }));
}

const STATE = {
  ...pick(pinnedBulk, "status fence lanes"),
  isCanceled: bool,
  /** True if there are unclaimed items. */
  isWaiting: bool,
  /** True if there are running items. */
  isUnderWay: bool,
};
export type BulkState = Of<typeof STATE>;
const hasItem = (status: "queued" | "running") =>
  `EXISTS (SELECT FROM pinned_execution item WHERE item.bulk_id = bulk.id AND (item.status = '${status}') IS TRUE)`;
const readState = statement("bulk.read.state", {
  params: { bulkId: text },
  row: STATE,
  prepared: true,
  sql: `SELECT status, fence, lanes, cancel_requested_at IS NOT NULL AS "isCanceled", ${hasItem("queued")} AS "isWaiting",
      ${hasItem("running")} AS "isUnderWay"
    FROM pinned_bulk bulk WHERE id = $bulkId`,
});

/** The progress of a bulk; null if there is no such bulk. */
export const bulkStateOf = (bulkId: string): Promise<BulkState | null> => readState.first(pool, { bulkId });

const renew = statement("bulk.update.renewed", {
  params: HELD,
  row: { isCanceled: bool },
  prepared: true,
  sql: `UPDATE pinned_bulk SET lease_until = greatest(lease_until, ${leaseFor(BULK_LEASE_MS)})
    WHERE ${IS_HELD} RETURNING cancel_requested_at IS NOT NULL AS "isCanceled"`,
});

/** Renews the lease of a bulk; null if another worker has taken the bulk or it has ended. */
export const renewBulk = (bulk: HeldBulk): Promise<{ isCanceled: boolean } | null> =>
  renew.first(relaxedPool, bulk);

const rest = statement("bulk.update.resting", {
  params: { ...HELD, leaseMs: int4 },
  prepared: true,
  sql: `UPDATE pinned_bulk SET lease_owner = NULL, lease_until = ${leaseFor("$leaseMs::int")} WHERE ${IS_HELD}`,
});

/**
 * Frees a bulk while its run sleeps for this long. The lease outlasts the sleep, so the sweeper does not wake
 * the bulk; the run continues under the same fence, perhaps in another process.
 */
export const restBulk = (bulk: HeldBulk, forMs: number): Promise<void> =>
  rest.run(relaxedPool, { ...bulk, leaseMs: forMs + BULK_LEASE_MS });

const release = statement("bulk.update.released", {
  params: HELD,
  row: WAKE,
  sql: `UPDATE pinned_bulk SET lease_owner = NULL, lease_until = ${leaseFor(BULK_LEASE_MS)}, dispatch_number = dispatch_number + 1
    WHERE ${IS_HELD} RETURNING ${WAKE_COLUMNS}`,
});

/** Frees a bulk that is to be woken anew; null if another worker has it or it has ended. */
export const letGo = (bulk: HeldBulk): Promise<Wake | null> => release.first(pool, bulk);

const widthAs = (name: string, lanes: string) =>
  statement(`bulk.update.${name}`, {
    params: HELD,
    prepared: true,
    sql: `UPDATE pinned_bulk SET lanes = ${lanes} WHERE ${IS_HELD}`,
  });
const WIDTHS = {
  halve: widthAs("halved_width", "greatest(1, lanes / 2)"),
  raise: widthAs("raised_width", "least(concurrency, lanes + 1)"),
};

/** Halves the width, but not below one, or raises it by one, up to the requested concurrency. */
export const changeWidth = (bulk: HeldBulk, by: "halve" | "raise"): Promise<void> =>
  WIDTHS[by].run(relaxedPool, bulk);

const end = statement("bulk.update.ended", {
  params: { bulkId: text, now: timestamptz },
  prepared: true,
  sql: `UPDATE pinned_bulk SET completed_at = $now, lease_owner = NULL, lease_until = NULL,
      status = CASE WHEN counted.succeeded = item_count THEN 'succeeded'
        WHEN counted.succeeded = 0 THEN 'failed' ELSE 'partial' END
    FROM (SELECT count(*) FILTER (WHERE status = 'succeeded') AS succeeded,
            count(*) FILTER (WHERE status IN ('queued', 'running')) AS unfinished
          FROM pinned_execution WHERE bulk_id = $bulkId) counted
    WHERE id = $bulkId AND status IN ('accepted', 'running') AND counted.unfinished = 0`,
});

/**
 * Ends a bulk whose items have all ended; its status follows from theirs. False if some have not ended, or if
 * the bulk had ended before. An ended item stays ended, so the count is final.
 */
export const endBulk = async (bulkId: string, now: Date): Promise<boolean> =>
  (await end.count(pool, { bulkId, now })) === 1;

const requestCancel = statement("bulk.update.cancel_requested", {
  params: { bulkId: text, now: timestamptz },
  sql: `UPDATE pinned_bulk SET cancel_requested_at = $now
    WHERE id = $bulkId AND cancel_requested_at IS NULL AND status IN ('accepted', 'running')`,
});

/**
 * Cancels the unclaimed items of a bulk and ends further claims. False if a cancel was requested before or
 * the bulk has ended.
 */
export async function cancelItems(bulkId: string, now: Date): Promise<boolean> {
  return inTransaction(async (client) => {
    // Takes the lock under which items are claimed: no claim begins after it, and earlier claims are
    // committed.
    if ((await requestCancel.count(client, { bulkId, now })) === 0) return false;
    await cancelWaiting(bulkId, now, client);
    return true;
  });
}

const cancelUnclaimed = statement("bulk.cancel.unclaimed_items", {
  params: { bulkId: text, now: timestamptz },
  prepared: true,
  sql: `UPDATE pinned_execution item SET status = 'canceled', completed_at = $now, safely_retryable = true
    WHERE bulk_id = $bulkId AND (status = 'queued') IS TRUE
      AND EXISTS (SELECT FROM pinned_bulk bulk WHERE bulk.id = $bulkId AND cancel_requested_at IS NOT NULL)`,
});

/** Cancels the unclaimed items of a bulk with a requested cancel, including items put back since. */
export const cancelWaiting = (bulkId: string, now: Date, database: Queryable = pool): Promise<void> =>
  cancelUnclaimed.run(database, { bulkId, now });

const after = (now: Date, ms: number) => new Date(now.getTime() + ms);
