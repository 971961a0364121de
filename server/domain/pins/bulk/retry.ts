import type { PinnedBulk } from "@/server/contract/pinned";
import type { StoredContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { type SentKey, settleKey } from "@/server/domain/envelope";
import { parsePinnedBulk } from "@/server/domain/pins/planning/request";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { RUN } from "../single";
import { type BulkRow, findBulk, hasEnded, inputOf, sharedOf } from "./rows";
import { acceptBulk } from "./submit";

/**
 * Submits a new bulk of those items of an ended one that cannot run twice: items that failed without running,
 * and canceled items. Throws RetryNotSafe if there are none. A bulk has one retry unless the caller sends
 * keys.
 */
export async function retrySafely(
  ctx: Ctx,
  bulkId: string,
  idempotencyHeader?: string | SentKey,
): Promise<PinnedBulk> {
  const bulk = await findBulk(ctx, bulkId, RUN);
  if (!hasEnded(bulk))
    fail("RetryNotSafe", "This bulk has not ended. Retry its items when it has.", { status: bulk.status });
  const items = await retryableItems(bulk);
  if (items.length === 0)
    fail(
      "RetryNotSafe",
      "No item of this bulk is safe to retry: each one succeeded, or the provider may have run it.",
      { status: bulk.status },
    );
  const request = parsePinnedBulk({ ...((await sharedOf(bulk.id)) ?? gone()), items });
  const key = settleKey(undefined, idempotencyHeader) ?? { key: `retry-${bulk.id}` };
  return acceptBulk(ctx, request, key, bulk.id);
}

async function retryableItems(bulk: BulkRow): Promise<{ id: string; input: string }[]> {
  const { rows } = await pool.query<StoredContent & { item_id: string }>(
    `SELECT item.item_id, payload.id, payload.content, coalesce(payload.is_sealed, false) AS is_sealed
     FROM pinned_execution item
     LEFT JOIN payload ON payload.pinned_id = item.id AND payload.kind = 'request'
     WHERE item.bulk_id = $1 AND item.safely_retryable ORDER BY item.position`,
    [bulk.id],
  );
  return rows.map((row) => ({ id: row.item_id, input: inputOf(row) ?? gone() }));
}

function gone(): never {
  fail("PayloadUnavailable", "The content of this bulk was removed or never stored. Submit the bulk again.");
}
