import { pool } from "@/server/db";
import type { Json } from "@/server/step";
import { tell } from "../notify";
import type { StoredAnswer } from "./answer";
import { type NewEvent, sourcesOf } from "./moves";

/** What becomes of the job: an operator decides, or its worker comes back before its lease ends. */
type Next = { status: "needs_attention"; attention: Json } | { status: "running"; leaseUntil: Date };

/**
 * A provider's answer that was paid for and cannot be brought to where it belongs: what the job ends with is kept beside
 * it. False: the lease is lost, or the job is to be canceled.
 */
export async function setAside(kept: {
  jobId: string;
  fence: number;
  now: Date;
  next: Next;
  attempt: NonNullable<StoredAnswer["attempt"]>;
  /** The answer's content; null: too large to be kept here. */
  content: {
    id: string;
    text: string;
    isSealed: boolean;
    sha256: string;
    byteLength: number;
    expiresAt: Date | null;
  } | null;
  event: NewEvent;
}): Promise<boolean> {
  const { attempt, content, next } = kept;
  const { rowCount } = await pool.query(
    `WITH moved AS (
       UPDATE job SET status = $21::text, attention = coalesce($4::jsonb, attention), last_event = last_event + 1,
         lease_owner = CASE WHEN $22::timestamptz IS NOT NULL THEN lease_owner END, lease_until = $22
       WHERE id = $1 AND fence = $2 AND status = ANY($20) RETURNING id, project_id, last_event
     ), answered AS (
       UPDATE attempt SET submission = $6::text, provider_request_id = $7, provider_model = $8, answer = $9::jsonb, usage = $10::jsonb,
         http_status = $11, cost_micros = $12, answered_at = coalesce(attempt.answered_at, $3), ended_at = $3
       FROM moved WHERE attempt.id = $5 AND attempt.job_id = moved.id
     ), wrote AS (
       INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
       SELECT $13, project_id, id, 'answer', $14, $15, $16, $17, $3, $18 FROM moved WHERE $13::text IS NOT NULL
       ON CONFLICT (id) DO NOTHING
     )
     INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
     SELECT project_id, id, last_event, $23, $19::jsonb, $3 FROM moved`,
    [
      kept.jobId,
      kept.fence,
      kept.now,
      next.status === "needs_attention" ? JSON.stringify(next.attention) : null,
      attempt.id,
      attempt.submission,
      attempt.provider_request_id,
      attempt.provider_model,
      JSON.stringify(attempt.answer),
      attempt.usage && JSON.stringify(attempt.usage),
      attempt.http_status,
      attempt.cost_micros,
      content?.id ?? null,
      content?.text ?? null,
      content?.isSealed ?? false,
      content?.sha256 ?? null,
      content?.byteLength ?? null,
      content?.expiresAt ?? null,
      JSON.stringify(kept.event.payload),
      sourcesOf("needs_attention"),
      next.status,
      next.status === "running" ? next.leaseUntil : null,
      kept.event.type,
    ],
  );
  tell([kept.jobId]);
  return rowCount === 1;
}

/** The worker of a job comes back to an answer that is kept: its lease outlives the wait. False: it is lost. */
export async function holdOn(held: { jobId: string; fence: number; leaseUntil: Date }): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE job SET lease_until = greatest(lease_until, $3)
     WHERE id = $1 AND fence = $2 AND status IN ('running', 'canceling')`,
    [held.jobId, held.fence, held.leaseUntil],
  );
  return rowCount === 1;
}
