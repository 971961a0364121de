import type { Ctx } from "@/server/domain/ctx";
import { LEASE_MS } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { bool, int4, int8, maybe, type Of, text, timestamptz } from "@/server/sql/column";
import { processLock } from "./process-lock";

/*
 * Clients repeat a request whose answer they lost, most of them without an idempotency key. A repeat must not run, and be
 * paid, twice; equal requests that are meant must. They are distinguished by the outcome of the earlier one, which is on its job's
 * row while a repeat may join it: `repeat_hash` finds it, `waiter_state` says how its caller fares. Only what is not as it
 * should be is written: an end that reached its caller clears `repeat_hash` in the statement that ends it. Who may join whom
 * is decided by `capstan_join` (prisma/guards/7-executions.sql), inside the statement that would else admit.
 */

/** What admission looks an earlier request up by, and the row it makes is found by. All null: it has an idempotency key. */
export const REPEAT_COLUMNS = {
  repeat_hash: maybe(text),
  waiter_process: maybe(int8),
  waiter_retries: maybe(int4),
  awaits_end: maybe(bool),
  /** A running job whose lease was last renewed for this moment is lost, where its process is not known. */
  stalled_at: maybe(timestamptz),
  guard_ms: maybe(int8),
};
export type RepeatColumns = Of<typeof REPEAT_COLUMNS>;

export const NO_REPEAT: RepeatColumns = {
  repeat_hash: null,
  waiter_process: null,
  waiter_retries: null,
  awaits_end: null,
  stalled_at: null,
  guard_ms: null,
};

/** Without news for this long a running request is taken for lost, by repeats alone: no one takes it over. */
const STALLED_MS = 3_000;

/** How long after its end a repeat is answered with what became of the first. */
export const guardMs = () => env.REPEAT_GUARD_SECONDS * 1000;

/** By what a request of this caller for this place is known again. */
export function repeatColumns(ctx: Ctx, projectId: string, environment: string): RepeatColumns {
  const { unkeyed, principal } = ctx;
  if (!unkeyed) return NO_REPEAT;
  const { path, bodyHash, retries, awaitsEnd } = unkeyed;
  return {
    repeat_hash: sha256Hex(canonicalText([principal.id, projectId, environment, path, bodyHash])),
    waiter_process: processLock(),
    waiter_retries: retries,
    awaits_end: awaitsEnd,
    stalled_at: new Date(ctx.now().getTime() + LEASE_MS - STALLED_MS),
    guard_ms: guardMs(),
  };
}

/** The execution that a request joins which cannot be admitted alone; null: none. */
export async function joinEarlier(
  ctx: Ctx,
  columns: RepeatColumns,
): Promise<{ id: string; waiter: string } | null> {
  const waiter = newId("job");
  const { rows } = await pool.query<{ id: string | null }>({
    name: "join-earlier",
    text: "SELECT capstan_join($1, $2, $3, $4, $5, $6, $7, $8) AS id",
    values: [
      columns.repeat_hash,
      waiter,
      columns.waiter_process,
      columns.waiter_retries,
      columns.awaits_end,
      ctx.now(),
      columns.stalled_at,
      columns.guard_ms,
    ],
  });
  return rows[0]?.id ? { id: rows[0].id, waiter } : null;
}

/** From here on it is noted when this request loses its caller, or lets it go: then a repeat may take its place. */
export function watchWaiter(
  ctx: Ctx,
  jobId: string,
  waiter: string,
  { repeat_hash: hash }: RepeatColumns,
): void {
  if (!ctx.unkeyed || hash === null) return;
  const lose = (state: "left" | "answered_early") =>
    pool
      .query({
        name: "lose-waiter",
        // A success that was about to be written cleared the hash; what failed tells by it whether it may be joined.
        text: `UPDATE job SET waiter_state = $4::text,
          repeat_hash = CASE WHEN status IN ('failed', 'canceled') THEN repeat_hash ELSE $3 END
          WHERE id = $1 AND waiter = $2 AND waiter_state = 'waiting'`,
        values: [jobId, waiter, hash, state],
      })
      .then(
        () => {},
        (cause) => log.warn({ err: cause, jobId }, "a disconnected request could not be recorded"),
      );
  ctx.unkeyed.answeredEarly = () => lose("answered_early");
  const signal = ctx.signal?.();
  if (signal?.aborted) void lose("left");
  else signal?.addEventListener("abort", () => void lose("left"), { once: true });
}
