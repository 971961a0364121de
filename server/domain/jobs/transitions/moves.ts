import type { JobStatus } from "@/server/contract/jobs";
import { pool } from "@/server/db";
import type { Json } from "@/server/step";
import { tell } from "../notify";

/**
 * The table of moves. Anything else is refused; a terminal status has no row.
 * Every statement of this folder that writes a status takes its condition from here.
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
  return (Object.keys(MOVES) as JobStatus[]).filter((from) => MOVES[from].includes(to)); // the keys of a Record<JobStatus, …>
}

/** Two moves of one job never share a statement: each asker is told what became of its own. */
export const apart = (item: { jobId: string }) => item.jobId;

export type NewEvent = { type: string; payload: Record<string, Json> };

type Move = {
  jobId: string;
  to: Exclude<JobStatus, "succeeded" | "failed" | "canceled">;
  from: JobStatus[];
  fence?: number;
  /** The last event the decision knows of: with a later one nothing is written. */
  lastEvent?: number;
  now: Date;
  event: NewEvent;
  /** Told after it, in the same statement. */
  more?: NewEvent[];
  /** Of a wait for a person: what is decided on, or what was decided. */
  approval?: Json;
  approvalDeadlineAt?: Date;
  /** Of a queued job: when its wake is due, where the mover does not send it. Now, when not said. */
  dispatchAfter?: Date;
};

/** A move of one job that ends nothing: the status, and the events with it, where the condition still holds. */
export async function move(move: Move): Promise<{ dispatch_number: number } | null> {
  if (!move.from.every((status) => MOVES[status].includes(move.to)))
    throw new Error(`No move from ${move.from} to ${move.to}`);
  const { rows } = await pool.query<{ dispatch_number: number }>(
    // An operator's retry of a step gives the job back without a lease, to be taken over by whoever is woken.
    `WITH moved AS (
       UPDATE job SET status = $2::text, last_event = last_event + jsonb_array_length($6::jsonb),
         queue_deadline_at = CASE WHEN $2::text = 'queued' THEN $4::timestamptz + queue_seconds * interval '1 second' ELSE queue_deadline_at END,
         dispatch_state = CASE WHEN $2::text IN ('queued', 'running') THEN 'pending' ELSE dispatch_state END,
         dispatch_number = dispatch_number + CASE WHEN $2::text IN ('queued', 'running') THEN 1 ELSE 0 END,
         dispatch_after = CASE WHEN $2::text IN ('queued', 'running') THEN $10 ELSE dispatch_after END,
         lease_owner = CASE WHEN $2::text = 'canceling' THEN lease_owner END,
         lease_until = CASE $2::text WHEN 'canceling' THEN lease_until WHEN 'running' THEN $4 - interval '1 millisecond' END,
         approval = coalesce($8::jsonb, approval), approval_deadline_at = $9::timestamptz, attention = NULL
       WHERE id = $1 AND status = ANY($3) AND ($5::int IS NULL OR fence = $5) AND ($7::int IS NULL OR last_event = $7)
       RETURNING id, project_id, last_event, dispatch_number
     ), told AS (
       INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
       SELECT project_id, id, last_event - jsonb_array_length($6::jsonb) + event.position, event.value->>'type', event.value->'payload', $4
       FROM moved, jsonb_array_elements($6::jsonb) WITH ORDINALITY AS event(value, position)
     )
     SELECT dispatch_number FROM moved`,
    [
      move.jobId,
      move.to,
      move.from,
      move.now,
      move.fence ?? null,
      JSON.stringify([move.event, ...(move.more ?? [])]),
      move.lastEvent ?? null,
      move.approval ? JSON.stringify(move.approval) : null,
      move.approvalDeadlineAt ?? null,
      move.dispatchAfter ?? move.now,
    ],
  );
  tell([move.jobId]);
  return rows[0] ?? null;
}

/** Was the job moved? */
export const transition = async (wanted: Move): Promise<boolean> => (await move(wanted)) !== null;
