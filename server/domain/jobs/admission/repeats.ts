import type { Ctx } from "@/server/domain/ctx";
import { LEASE_MS } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { bool, int4, int8, maybe, type Of, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { processLock } from "./process-lock";

/*
 * Clients repeat a request whose answer they lost, most of them without an idempotency key. A repeat must not
 * run and be charged twice, but intended equal requests must both run. The outcome of the earlier request
 * distinguishes the two. It is on that job's row as long as a repeat may join the job: `repeat_hash` finds
 * the row, and `waiter_state` says what happened to the caller. Only exceptions cost a write, because the
 * statement that ends a job clears `repeat_hash` unless a repeat may still need that end. `capstan_join`
 * (prisma/guards/7-executions.sql) decides which request may join which job, inside the statement that would
 * otherwise admit it.
 */

/**
 * Admission looks up an earlier request by these values, and stores those by which a later repeat finds this
 * one. All are null if the request has an idempotency key.
 */
export const REPEAT_COLUMNS = {
  repeat_hash: maybe(text),
  waiter_process: maybe(int8),
  waiter_retries: maybe(int4),
  awaits_end: maybe(bool),
  /** A running job whose process is unknown counts as lost if its lease ends before this time. */
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

/**
 * A running request without a lease renewal for this long counts as lost. Only repeats use this limit: no
 * worker takes the request over.
 */
const STALLED_MS = 3_000;

/** How long after an execution's end a repeat still gets its outcome. */
export const guardMs = () => env.REPEAT_GUARD_SECONDS * 1000;

/**
 * The columns that identify repeats of this request: the same caller, project, environment, path and body.
 * All are null if `ctx.unkeyed` is absent.
 */
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

const join = statement("job.join.earlier", {
  params: { ...REPEAT_COLUMNS, waiter: text, now: timestamptz },
  row: { id: maybe(text) },
  prepared: true,
  sql: `SELECT capstan_join($repeat_hash, $waiter, $waiter_process, $waiter_retries, $awaits_end, $now, $stalled_at,
    $guard_ms) AS id`,
});

/** Joins the earlier execution of a request that cannot be admitted itself; null if there is none. */
export async function joinEarlier(
  ctx: Ctx,
  columns: RepeatColumns,
): Promise<{ id: string; waiter: string } | null> {
  const waiter = newId("job");
  const joined = await join.first(pool, { ...columns, waiter, now: ctx.now() });
  return joined?.id ? { id: joined.id, waiter } : null;
}

const loseWaiter = statement("job.update.lost_waiter", {
  params: { jobId: text, waiter: text, hash: text, state: text },
  prepared: true,
  // A success clears the hash, so it is set again. A failed or canceled job keeps its value, which decides
  // whether a repeat may join it.
  sql: `UPDATE job SET waiter_state = $state::text,
      repeat_hash = CASE WHEN status IN ('failed', 'canceled') THEN repeat_hash ELSE $hash END
    WHERE id = $jobId AND waiter = $waiter AND waiter_state = 'waiting'`,
});

/**
 * Records when this request loses its caller or is answered before its end, so that a repeat may take its
 * place.
 */
export function watchWaiter(
  ctx: Ctx,
  jobId: string,
  waiter: string,
  { repeat_hash: hash }: RepeatColumns,
): void {
  if (!ctx.unkeyed || hash === null) return;
  const lose = (state: "left" | "answered_early") =>
    loseWaiter
      .run(pool, { jobId, waiter, hash, state })
      .catch((cause) => log.warn({ err: cause, jobId }, "a disconnected request could not be recorded"));
  ctx.unkeyed.answeredEarly = () => lose("answered_early");
  const signal = ctx.signal?.();
  if (signal?.aborted) void lose("left");
  else signal?.addEventListener("abort", () => void lose("left"), { once: true });
}
