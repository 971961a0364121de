import type { z } from "zod";
import type { BulkItemStatus, BulkItemView, BulkPage, PinnedBulk } from "@/server/contract/pinned";
import { BULK_PAGE } from "@/server/contract/pinned";
import { access } from "@/server/domain/access";
import { type HoldFacts, holdFactsOf } from "@/server/domain/budgets";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { chargeOf, nextStepOf } from "@/server/domain/executions";
import { nullEndedPageOf, readCursor, refuseCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";
import { READ } from "../read";
import { type BulkRow, findBulk, hasEnded } from "./rows";

type Status = z.output<typeof BulkItemStatus>;
type ItemRow = {
  /** Its position in the bulk. */
  id: number;
  item_id: string;
  status: Status;
  receipt_id: string | null;
  error: { code: string; message: string } | null;
  is_retryable: boolean | null;
  estimated_micros: Micros;
  hold: HoldFacts | null;
};
type Counted = { bulk_id: string; status: Status; count: number; retryable: number };

const POLL_SECONDS = 4;

type Page = { limit?: number; cursor?: string | undefined; status?: Status | undefined };

/** A bulk with a page of its items, in their order. */
export const getBulk = (ctx: Ctx, bulkId: string, page?: Page): Promise<PinnedBulk> =>
  viewBulk(ctx, bulkId, READ, page);

/** The same for callers with this right. */
export async function viewBulk(
  ctx: Ctx,
  bulkId: string,
  right: Scope,
  { limit = BULK_PAGE, cursor, status }: Page = {},
): Promise<PinnedBulk> {
  const bulk = await findBulk(ctx, bulkId, right);
  const after = readPosition(cursor);
  const [counted, { rows }] = await Promise.all([
    countItems([bulk.id]),
    pool.query<ItemRow>({
      name: "bulk-items",
      text: `SELECT position AS id, item_id, status, receipt_id, error, safely_retryable AS is_retryable,
               estimated_micros::bigint AS estimated_micros, ${holdFactsOf("item.id")} AS hold FROM pinned_execution item
             WHERE bulk_id = $1 AND position > $2 AND ($3::text IS NULL OR status = $3::text) ORDER BY position LIMIT $4`,
      values: [bulk.id, after, status ?? null, limit + 1],
    }),
  ]);
  return { ...toBulk(bulk, counted), ...nullEndedPageOf(rows, limit, toItem) };
}

/** The bulks of a project, or of all projects the caller may see, newest first, without their items. */
export async function listBulks(
  ctx: Ctx,
  {
    projectId,
    limit,
    cursor,
  }: { projectId?: string | undefined; limit: number; cursor?: string | undefined },
): Promise<z.output<typeof BulkPage>> {
  const project = projectId === undefined ? null : await access.authorize(ctx, READ, { projectId });
  const scope = access.authorize(ctx, READ, "rows");
  const { rows } = await pool.query<BulkRow>({
    name: "list-bulks",
    text: `SELECT * FROM pinned_bulk
           WHERE ($1::text[] IS NULL OR organization_id = ANY($1)) AND ($2::text IS NULL OR project_id = $2)
             AND ($3::text IS NULL OR environment = $3) AND ($4::text IS NULL OR id < $4) ORDER BY id DESC LIMIT $5`,
    values: [
      scope.organizationIds,
      project?.id ?? scope.projectId,
      scope.environment,
      readCursor("bulk", cursor),
      limit + 1,
    ],
  });
  const counted = await countItems(rows.map(({ id }) => id));
  return nullEndedPageOf(rows, limit, (bulk) => toBulk(bulk, counted));
}

/** Counted from the items themselves, each time: nothing else says how far a bulk is. */
async function countItems(bulkIds: string[]): Promise<Counted[]> {
  if (bulkIds.length === 0) return [];
  const { rows } = await pool.query<Counted>({
    name: "count-items",
    text: `SELECT bulk_id, status, count(*) AS count, count(*) FILTER (WHERE safely_retryable) AS retryable
           FROM pinned_execution item WHERE bulk_id = ANY($1) GROUP BY bulk_id, status`,
    values: [bulkIds],
  });
  return rows;
}

function toBulk(bulk: BulkRow, counted: Counted[]): Omit<PinnedBulk, "items" | "nextCursor"> {
  const mine = counted.filter(({ bulk_id }) => bulk_id === bulk.id);
  const counts = { queued: 0, running: 0, succeeded: 0, failed: 0, ambiguous: 0, canceled: 0 };
  for (const { status, count } of mine) counts[status] = count;
  return {
    bulkId: bulk.id,
    projectId: bulk.project_id,
    environment: bulk.environment,
    status: bulk.status,
    nextAction: hasEnded(bulk) ? "stop" : "poll",
    pollAfterSeconds: hasEnded(bulk) ? 0 : POLL_SECONDS,
    pin: bulk.plan.pin,
    processing: bulk.plan.processing,
    concurrency: bulk.concurrency,
    currentConcurrency: bulk.lanes,
    itemCount: bulk.item_count,
    counts,
    safelyRetryable: mine.reduce((sum, { retryable }) => sum + retryable, 0),
    retryOf: bulk.retry_of,
    createdAt: bulk.created_at.toISOString(),
    startedAt: bulk.started_at?.toISOString() ?? null,
    completedAt: bulk.completed_at?.toISOString() ?? null,
    cancelRequestedAt: bulk.cancel_requested_at?.toISOString() ?? null,
  };
}

const toItem = (row: ItemRow): BulkItemView => ({
  id: row.item_id,
  status: row.status,
  receiptId: row.receipt_id,
  error: row.error && { code: row.error.code, message: `${row.error.message} ${nextStepOfItem(row)}` },
  safelyRetryable: row.is_retryable,
  charge: chargeOf({ billingMode: "byok", estimatedMicros: row.estimated_micros, hold: row.hold }),
});

const nextStepOfItem = (row: ItemRow) =>
  nextStepOf(row.is_retryable ?? false, row.status === "ambiguous" ? "ambiguous" : null);

function readPosition(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  return /^[1-9]\d{0,8}$/.test(cursor) ? Number(cursor) : refuseCursor();
}
