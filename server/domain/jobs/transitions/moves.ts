import type { JobStatus } from "@/server/contract/jobs";
import { ownKeys } from "@/server/contract/own-keys";
import { AUDIT, type AuditRow, audited } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";

import { tell } from "@/server/domain/jobs/following/notify";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { column, int4, jsonb, maybe, text, texts, timestamptz } from "@/server/sql/column";
import { isAbandoned, leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";

/**
 * The table of moves; any other move is refused, and a terminal status has none. The statements of this
 * folder write a status only under a condition that this table allows.
 */
export const MOVES: Record<JobStatus, readonly JobStatus[]> = {
  queued: ["running", "failed", "canceled"],
  awaiting_approval: ["queued", "canceled"],
  running: ["succeeded", "failed", "queued", "awaiting_approval", "needs_attention", "canceling"],
  canceling: ["canceled"],
  needs_attention: ["running", "succeeded", "failed", "canceled"],
  succeeded: [],
  failed: [],
  canceled: [],
};

/** The statuses from which this one may be reached. */
export function sourcesOf(to: JobStatus): JobStatus[] {
  return ownKeys(MOVES).filter((from) => MOVES[from].includes(to));
}

/** Two moves of one job never share a statement, so that each caller learns the outcome of its own. */
export const ofJob = (item: { jobId: string }) => item.jobId;

/** Throws if the table has no such move. */
export function checkMove({ from, to }: { from: JobStatus[]; to: JobStatus }): void {
  if (!from.every((status) => MOVES[status].includes(to))) throw new Error(`No move from ${from} to ${to}`);
}

export type NewEvent = { type: string; payload: Record<string, Json> };

type Move = {
  jobId: string;
  to: Exclude<JobStatus, "succeeded" | "failed" | "canceled">;
  from: JobStatus[];
  fence?: number;
  /** The last event that the decision is based on; a later event prevents the write. */
  lastEvent?: number;
  now: Date;
  event: NewEvent;
  /** Events after `event`, in the same statement. */
  more?: NewEvent[];
  /** A wait for a person: the decision that is requested, or the decision that was made. */
  approval?: Json;
  approvalDeadlineAt?: Date;
  /** The time at which the job's wake is due, if the mover does not send it itself; absent: now. */
  dispatchAfter?: Date;
  audit?: AuditRow[];
  /** Writes only if the lease was abandoned, and only until this time (`reapsUntil`). */
  reapUntil?: Date;
};

const moving = statement("move", {
  params: {
    jobId: text,
    to: text,
    from: texts,
    fence: maybe(int4),
    lastEvent: maybe(int4),
    now: timestamptz,
    events: jsonb<NewEvent[]>(),
    approval: column<Json>("jsonb", true),
    approvalDeadlineAt: maybe(timestamptz),
    dispatchAfter: timestamptz,
    audit: AUDIT,
    reapUntil: maybe(timestamptz),
  },
  row: { dispatch_number: int4 },
  // After an operator's retry of a step the job's lease has already ended, so the worker that is woken takes
  // the job over.
  sql: `WITH moved AS (
  UPDATE job SET status = $to::text, last_event = last_event + jsonb_array_length($events::jsonb),
    queue_deadline_at = CASE WHEN $to::text = 'queued' THEN $now::timestamptz + queue_seconds * interval '1 second' ELSE queue_deadline_at END,
    dispatch_state = CASE WHEN $to::text IN ('queued', 'running') THEN 'pending' ELSE dispatch_state END,
    dispatch_number = dispatch_number + CASE WHEN $to::text IN ('queued', 'running') THEN 1 ELSE 0 END,
    dispatch_after = CASE WHEN $to::text IN ('queued', 'running') THEN $dispatchAfter ELSE dispatch_after END,
    lease_owner = CASE WHEN $to::text = 'canceling' THEN lease_owner END,
    lease_until = CASE $to::text WHEN 'canceling' THEN lease_until WHEN 'running' THEN ${leaseFor(-1)} END,
    approval = coalesce($approval::jsonb, approval), approval_deadline_at = $approvalDeadlineAt::timestamptz, attention = NULL
  WHERE id = $jobId AND status = ANY($from) AND ($fence::int IS NULL OR fence = $fence) AND ($lastEvent::int IS NULL OR last_event = $lastEvent)
    AND ($reapUntil::timestamptz IS NULL OR ${isAbandoned("lease_until", "$reapUntil")})
  RETURNING id, project_id, last_event, dispatch_number
), added AS (
  INSERT INTO event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, id, last_event - jsonb_array_length($events::jsonb) + event.position, event.value->>'type', event.value->'payload', $now
  FROM moved, jsonb_array_elements($events::jsonb) WITH ORDINALITY AS event(value, position)
), ${audited("$audit", "moved")}
SELECT dispatch_number FROM moved`,
});

/** Moves one job without ending it: writes the status and the events. Null if a condition no longer holds. */
export async function move({ event, more = [], ...move }: Move): Promise<{ dispatch_number: number } | null> {
  checkMove(move);
  const moved = await moving.first(pool, {
    ...move,
    events: [event, ...more],
    dispatchAfter: move.dispatchAfter ?? move.now,
  });
  tell([move.jobId]);
  return moved;
}

/** False if a condition no longer holds. */
export const transition = async (wanted: Move): Promise<boolean> => (await move(wanted)) !== null;

/**
 * Puts a job back into the queue under the same attempt number, because nothing ran. False if a condition no
 * longer holds.
 */
export function requeueJob(
  ctx: Ctx,
  jobId: string,
  fence: number,
  only: Pick<Move, "lastEvent" | "reapUntil"> = {},
): Promise<boolean> {
  return transition({
    jobId,
    fence,
    ...only,
    from: ["running"],
    to: "queued",
    now: ctx.now(),
    event: { type: "job.queued", payload: { reason: "lease_lost" } },
  });
}
