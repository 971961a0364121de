import { pool } from "@/server/db";
import type { Json } from "@/server/step";
import { tell } from "../notify";
import type { StoredAnswer } from "./answer";
import { type NewEvent, sourcesOf } from "./moves";

/**
 * A provider's answer that was paid for and cannot be brought to where it belongs: what the job ends with is kept beside
 * it, and an operator decides. False: the lease is lost.
 */
export async function setAside(kept: {
  jobId: string;
  fence: number;
  now: Date;
  attention: Json;
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
  const { attempt, content } = kept;
  const { rowCount } = await pool.query(
    `WITH moved AS (
       UPDATE job SET status = 'needs_attention', attention = $4::jsonb, last_event = last_event + 1,
         lease_owner = NULL, lease_until = NULL
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
     SELECT project_id, id, last_event, 'job.needs_attention', $19::jsonb, $3 FROM moved`,
    [
      kept.jobId,
      kept.fence,
      kept.now,
      JSON.stringify(kept.attention),
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
    ],
  );
  tell([kept.jobId]);
  return rowCount === 1;
}
