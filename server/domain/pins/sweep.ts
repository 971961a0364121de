import type { Ctx } from "@/server/domain/ctx";
import {
  clockOf,
  decideAbandoned,
  end,
  failed,
  LEASE_MS,
  leaseOwner,
  type NewEnding,
  nothingSent,
  type Pass,
  reapsUntil,
} from "@/server/domain/executions";
import { notHeld } from "@/server/domain/restores";
import { pinnedBulk, pinnedExecution } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { maybe, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { abandonedBefore, leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { wakeAgain } from "./bulk/dispatch";
import { storeOf } from "./end";
import { listPinAttempts } from "./read";
import { type PinnedAttemptRow, type PinnedRow, submissionOf } from "./rows";
import { requeuePins } from "./transitions";

const MOST = 200;

const ABANDONED = { ...pinnedExecution, bulk_plan: maybe(pinnedBulk.plan) };
type Abandoned = Of<typeof ABANDONED>;

/**
 * Takes over executions whose lease has ended, at most 200 in one pass. One with an open submission ends as
 * ambiguous and is never sent again. Without one, an item of a bulk goes back to the queue, and a single
 * execution ends and may be posted again. Then wakes bulks that have no worker. Safe to run in every process
 * at once. `projectId` limits the sweep to one project; `pass` decides if abandoned work may be taken over.
 */
export async function sweep(
  ctx: Ctx,
  { projectId }: { projectId?: string } = {},
  pass?: Pass,
): Promise<void> {
  await endAll(ctx, projectId ?? null, reapsUntil(pass));
  await wakeAgain(projectId ?? null);
}

async function endAll(ctx: Ctx, projectId: string | null, reapUntil: Date): Promise<void> {
  const rows = await takeOver(reapUntil, projectId);
  if (rows.length === 0) return;
  const attempts = await listPinAttempts(rows.map(({ id }) => id));
  const waiting: PinnedRow[] = [];
  for (const row of rows) {
    const own = attempts.get(row.id) ?? [];
    const next = decideAbandoned<NewEnding>(foundOf(row, own));
    if (next.to === "ended")
      await endAbandoned(ctx, row, own, next.ending).catch((cause) =>
        log.error({ err: cause, pinnedId: row.id }, "a pinned execution could not be swept"),
      );
    else waiting.push(row);
  }
  await requeuePins(waiting);
}

/** The state of an abandoned execution by its rows. Its answer is never stored before its end. */
function foundOf({ bulk_id }: PinnedRow, attempts: PinnedAttemptRow[]) {
  const isOpen = attempts.some(({ ended_at }) => ended_at === null);
  return {
    answered: null,
    submission: isOpen ? ("ambiguous" as const) : ("not_attempted" as const),
    isCanceling: false,
    isTaken: false,
    unsent: bulk_id === null ? unsentEnding(attempts) : null,
  };
}

const unsentEnding = (attempts: PinnedAttemptRow[]) =>
  submissionOf(attempts) === "attempted"
    ? failed("unsendable", `${STOPPED} while the provider had no capacity.`, nothingSent)
    : failed("stopped_unsent", `${STOPPED} before anything was sent.`, nothingSent);

const STOPPED = "The process that ran this stopped";

const takeAbandoned = statement("pinned_execution.take.abandoned", {
  params: { reapUntil: timestamptz, ...pick(SCOPE, "projectId"), leaseOwner: text },
  row: ABANDONED,
  sql: `WITH due AS (
       SELECT id FROM pinned_execution
       WHERE (status = 'running') IS TRUE AND lease_until < ${abandonedBefore("$reapUntil")}
         AND ${inScope(pick(SCOPE, "projectId"))}
         AND ${notHeld("bulks")}
       ORDER BY lease_until LIMIT ${MOST} FOR NO KEY UPDATE SKIP LOCKED
     )
     UPDATE pinned_execution SET fence = fence + 1, lease_owner = $leaseOwner, lease_until = ${leaseFor(LEASE_MS)} FROM due
     WHERE pinned_execution.id = due.id
     RETURNING pinned_execution.*,
       (SELECT bulk.plan FROM pinned_bulk bulk WHERE bulk.id = pinned_execution.bulk_id) AS bulk_plan`,
});

/** Raises the fences, so that the earlier workers write nothing more before their rows are judged. */
const takeOver = (reapUntil: Date, projectId: string | null): Promise<Abandoned[]> =>
  takeAbandoned.all(pool, { reapUntil, projectId, leaseOwner });

async function endAbandoned(
  ctx: Ctx,
  row: Abandoned,
  attempts: PinnedAttemptRow[],
  ending: NewEnding,
): Promise<void> {
  const plan = row.plan ?? row.bulk_plan;
  if (!plan) throw new Error("an execution has no plan");
  await end(storeOf({ row, plan, attempts, clock: clockOf(ctx) }), ending);
}
