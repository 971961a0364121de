import { sendEvents } from "@/inngest/client";
import { notHeld } from "@/server/domain/restores";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { int4, type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";

/** The columns of a bulk that its wake names, and their SQL. */
export const WAKE = { id: text, projectId: text, dispatchNumber: int4 };
export const WAKE_COLUMNS = 'pinned_bulk.id, project_id AS "projectId", dispatch_number AS "dispatchNumber"';
export type Wake = Of<typeof WAKE>;

/**
 * Wakes the durable engine for a bulk, best effort: the row is the truth, and the sweeper resends a lost
 * wake.
 */
export function wakeBulk(bulk: Wake): void {
  sendEvents([toEvent(bulk)]).catch((cause) =>
    log.warn({ err: cause, bulkId: bulk.id }, "a wake could not be sent; the sweeper will send it"),
  );
}

const toEvent = (bulk: Wake) => ({
  // A resend has a new number, so that no engine treats it as a duplicate.
  id: `bulk:${bulk.id}:${bulk.dispatchNumber}`,
  name: "bulk/accepted",
  data: { bulkId: bulk.id, projectId: bulk.projectId },
});

const wakeDue = statement("bulk.wake.due", {
  params: pick(SCOPE, "projectId"),
  row: WAKE,
  sql: `WITH due AS (
       SELECT id FROM pinned_bulk WHERE (status IN ('accepted', 'running')) IS TRUE AND lease_until < (SELECT clock_timestamp())
         AND ${inScope(pick(SCOPE, "projectId"))} AND ${notHeld("bulks")}
       ORDER BY lease_until LIMIT 200 FOR UPDATE SKIP LOCKED
     )
     UPDATE pinned_bulk SET dispatch_number = dispatch_number + 1, lease_owner = NULL,
       lease_until = clock_timestamp()
         + CASE WHEN lease_owner IS NULL THEN least(900, 10 * 2 ^ least(dispatch_number, 10)) ELSE 10 END * interval '1 second'
     FROM due WHERE pinned_bulk.id = due.id
     RETURNING ${WAKE_COLUMNS}`,
});

/**
 * Wakes at most 200 bulks that have no worker: the wake was lost, or the worker did not renew its lease. The
 * wait before the next wake doubles up to fifteen minutes, until a worker takes the bulk.
 */
export async function wakeAgain(projectId: string | null): Promise<number> {
  const rows = await wakeDue.all(pool, { projectId });
  await sendEvents(rows.map(toEvent));
  return rows.length;
}
