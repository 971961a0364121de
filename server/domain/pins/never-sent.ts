import { readAmbiguous, resolve } from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import { type Clock, correctUnsent, end, failed, nothingSent, unavailable } from "@/server/domain/executions";
import { pinnedExecution } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { int4, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { closed, storeOf } from "./end";
import { listPinAttempts } from "./read";
import type { PinnedRow } from "./rows";
import { endAttempt, requeuePins } from "./transitions";

/**
 * Corrects the rows of a pinned execution that was never sent, though its rows may say otherwise: it ends
 * without a charge, an item of a bulk goes back to the queue, and an ambiguous end that the sweeper wrote is
 * corrected. This happens now, or as soon as the database answers.
 */
export const correctUnsentPin = (clock: Clock, claimed: Pick<PinnedRow, "id" | "fence">): Promise<void> =>
  correctUnsent(claimed.id, () => correct(clock, claimed));

const readRow = statement("pinned_execution.read", {
  params: { id: text },
  row: pinnedExecution,
  sql: "SELECT * FROM pinned_execution WHERE id = $id",
});

async function correct(clock: Clock, { id, fence }: Pick<PinnedRow, "id" | "fence">): Promise<boolean> {
  const row = await readRow.first(pool, { id });
  if (!row) return false; // its admission may still be committed
  const isOurs = row.fence === fence;
  if (row.status === "running") return isOurs ? endUnsent(clock, row) : false;
  if (row.status !== "ambiguous") return true;
  // The sweeper raised the fence by one when it ended the execution. A submission that another worker made
  // for an item of a bulk is not ours to correct.
  if (row.fence !== fence + 1 || !(await hasOnly(id, fence))) return true;
  const ctx = systemCtx("never-sent", clock.now);
  const hold = await readAmbiguous.first(pool, { executionId: id });
  if (hold && (await resolve(ctx, hold, { by: "never_sent", upstream: [], feeMicros: 0, note: null })))
    ctx.log.info({ pinnedId: id, holdId: hold.id }, "an ambiguous hold was released: nothing had been sent");
  await freeing.run(pool, { id });
  return true;
}

/** Ends an execution that is still ours; an item of a bulk goes back to the queue. */
async function endUnsent(clock: Clock, row: PinnedRow): Promise<boolean> {
  const attempts = (await listPinAttempts([row.id])).get(row.id) ?? [];
  if (row.plan !== null) {
    const how = unavailable("The database did not answer in time.");
    const store = storeOf({ row, plan: row.plan, attempts, clock });
    return (await end(store, how)).written !== undefined;
  }
  const how = failed("canceled_unsent", null, nothingSent);
  for (const attempt of attempts.filter(({ ended_at }) => ended_at === null))
    await endAttempt({ pinnedId: row.id, fence: row.fence, attempt: closed(attempt, how, clock.now()) });
  await requeuePins([row]);
  return true;
}

const foreign = statement("pinned_attempt.find.foreign", {
  params: { id: text, fence: int4 },
  row: { id: text },
  sql: "SELECT id FROM pinned_attempt WHERE pinned_id = $id AND submission = 'ambiguous' AND fence <> $fence",
});
/** True if every ambiguous submission was made under this claim. */
const hasOnly = async (id: string, fence: number): Promise<boolean> =>
  (await foreign.count(pool, { id, fence })) === 0;

const freeing = statement("pinned_execution.update.freed_key", {
  params: { id: text },
  row: {},
  sql: `UPDATE pinned_execution SET released_key = idempotency_key, idempotency_key = NULL
    WHERE id = $id AND idempotency_key IS NOT NULL`,
});
