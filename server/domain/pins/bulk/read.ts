import type { z } from "zod";
import type { BulkItemStatus, BulkItemView, BulkPage, PinnedBulk } from "@/server/contract/pinned";
import { BULK_PAGE } from "@/server/contract/pinned";
import { access } from "@/server/domain/access";
import { type HoldFacts, holdFactsOf } from "@/server/domain/budgets";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { chargeOf, nextStepOf } from "@/server/domain/executions";
import { nullEndedPageOf, readCursor, refuseCursor } from "@/server/domain/paging";
import { pinnedBulk, pinnedExecution } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { int4, int8, json, maybe, names, type Of, pick, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { IN_SCOPE, readInScope, SCOPE } from "@/server/sql/tenant";
import { READ } from "../read";
import { findBulk, hasEnded } from "./rows";

type Status = z.output<typeof BulkItemStatus>;
type Counted = { status: Status; count: number; retryable: number };

const POLL_SECONDS = 4;

type Page = { limit?: number; cursor?: string | undefined; status?: Status | undefined };

const IS_ITEM = "every execution of a bulk has one";
const ITEM = {
  /** The position in the bulk. */
  id: present(pinnedExecution.position, IS_ITEM),
  item_id: present(pinnedExecution.item_id, IS_ITEM),
  ...pick(pinnedExecution, "status receipt_id error safely_retryable estimated_micros"),
  hold: json<HoldFacts | null>(),
};
type ItemRow = Of<typeof ITEM>;
const readItems = statement("bulk.list.items", {
  params: { bulkId: text, after: int4, status: maybe(text), limit: int8 },
  row: ITEM,
  prepared: true,
  sql: `SELECT position AS id, item_id, status, receipt_id, error, safely_retryable, estimated_micros,
      ${holdFactsOf("item.id")} AS hold FROM pinned_execution item
    WHERE bulk_id = $bulkId AND position > $after AND ($status::text IS NULL OR status = $status::text)
    ORDER BY position LIMIT $limit`,
});

/** A bulk with a page of its items, in their order. */
export const getBulk = (ctx: Ctx, bulkId: string, page?: Page): Promise<PinnedBulk> =>
  viewBulk(ctx, bulkId, READ, page);

/** Reads a bulk for callers with this right. */
export async function viewBulk(
  ctx: Ctx,
  bulkId: string,
  right: Scope,
  { limit = BULK_PAGE, cursor, status }: Page = {},
): Promise<PinnedBulk> {
  const bulk = await findBulk(ctx, bulkId, right);
  const after = readPosition(cursor);
  const [counted, rows] = await Promise.all([
    countItems.first(pool, { bulkId: bulk.id }),
    readItems.all(pool, { bulkId: bulk.id, after, status, limit: limit + 1 }),
  ]);
  return { ...toBulk(bulk, counted?.counted ?? []), ...nullEndedPageOf(rows, limit, toItem) };
}

/** Counts the items each time, because nothing else stores the progress of a bulk. `bulkId` is SQL. */
const countsOf = (bulkId: string) => `(SELECT json_agg(counted) FROM (
    SELECT status, count(*) AS count, count(*) FILTER (WHERE safely_retryable) AS retryable
    FROM pinned_execution WHERE bulk_id = ${bulkId} GROUP BY status) counted) AS counted`;
const COUNTED = json<Counted[] | null>();

const countItems = statement("bulk.count.items", {
  params: { bulkId: text },
  row: { counted: COUNTED },
  sql: `SELECT ${countsOf("$bulkId")}`,
});

const LISTED = pick(
  pinnedBulk,
  "id project_id environment status plan concurrency lanes item_count retry_of",
  "created_at started_at completed_at cancel_requested_at",
);
type Listed = Of<typeof LISTED>;
const readBulks = statement("bulk.list", {
  params: { ...SCOPE, before: maybe(text), limit: int8 },
  row: { ...LISTED, counted: COUNTED },
  sql: `SELECT ${names(LISTED, "bulk")}, ${countsOf("bulk.id")} FROM (
    SELECT * FROM pinned_bulk WHERE ${IN_SCOPE} AND ($before::text IS NULL OR id < $before) ORDER BY id DESC LIMIT $limit) bulk
    ORDER BY bulk.id DESC`,
});

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
  const rows = await readInScope(
    readBulks,
    { ...scope, projectId: project?.id ?? scope.projectId, principalId: null },
    { before: readCursor("bulk", cursor), limit: limit + 1 },
  );
  return nullEndedPageOf(rows, limit, ({ counted, ...bulk }) => toBulk(bulk, counted ?? []));
}

function toBulk(bulk: Listed, counted: Counted[]): Omit<PinnedBulk, "items" | "nextCursor"> {
  const counts = { queued: 0, running: 0, succeeded: 0, failed: 0, ambiguous: 0, canceled: 0 };
  for (const { status, count } of counted) counts[status] = count;
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
    safelyRetryable: counted.reduce((sum, { retryable }) => sum + retryable, 0),
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
  safelyRetryable: row.safely_retryable,
  charge: chargeOf({ billingMode: "byok", estimatedMicros: row.estimated_micros, hold: row.hold }),
});

const nextStepOfItem = (row: ItemRow) =>
  nextStepOf(row.safely_retryable ?? false, row.status === "ambiguous" ? "ambiguous" : null);

function readPosition(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  return /^[1-9]\d{0,8}$/.test(cursor) ? Number(cursor) : refuseCursor();
}
