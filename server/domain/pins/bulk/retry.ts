import type { PinnedBulk } from "@/server/contract/pinned";
import type { Ctx } from "@/server/domain/ctx";
import { type SentKey, settleKey } from "@/server/domain/envelope";
import { parsePinnedBulk } from "@/server/domain/pins/planning/request";
import { payload, pinnedExecution } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { bool, maybe, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { RUN } from "../single";
import { type BulkRow, findBulk, hasEnded, inputOf, sharedOf } from "./rows";
import { acceptBulk } from "./submit";

/**
 * Submits a new bulk of those items of an ended bulk that cannot run twice: items that failed without
 * running, and canceled items. Throws RetryNotSafe if there are none or the bulk has not ended, and
 * PayloadUnavailable if their content was removed. A bulk has one retry unless the caller sends idempotency
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

const readRetryable = statement("bulk.list.retryable_items", {
  params: { bulkId: text },
  row: {
    item_id: present(pinnedExecution.item_id, "every execution of a bulk has one"),
    id: maybe(payload.id),
    content: payload.content,
    is_sealed: bool,
  },
  sql: `SELECT item.item_id, payload.id, payload.content, coalesce(payload.is_sealed, false) AS is_sealed
     FROM pinned_execution item
     LEFT JOIN payload ON payload.pinned_id = item.id AND payload.kind = 'request'
     WHERE item.bulk_id = $bulkId AND item.safely_retryable ORDER BY item.position`,
});

async function retryableItems(bulk: BulkRow): Promise<{ id: string; input: string }[]> {
  const rows = await readRetryable.all(pool, { bulkId: bulk.id });
  return rows.map(({ item_id, id, ...stored }) => ({
    id: item_id,
    input: (id === null ? null : inputOf({ id, ...stored })) ?? gone(),
  }));
}

function gone(): never {
  fail("PayloadUnavailable", "The content of this bulk was removed or never stored. Submit the bulk again.");
}
