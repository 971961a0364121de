import { tell } from "@/server/domain/jobs/following/notify";
import { attempt } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import type { Usage } from "@/server/providers/define";
import {
  bool,
  column,
  int4,
  jsonb,
  maybe,
  type Of,
  pick,
  text,
  texts,
  timestamptz,
} from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
import type { StoredAnswer } from "./answer";
import { type NewEvent, sourcesOf } from "./moves";

/** The job's next status: an operator decides, or its worker returns before its lease ends. */
type Next = { status: "needs_attention"; attention: Json } | { status: "running"; leaseMs: number };

const settingAside = statement("set-aside", {
  params: {
    jobId: text,
    fence: int4,
    now: timestamptz,
    attention: column<Json>("jsonb", true),
    attemptId: text,
    ...pick(
      attempt,
      "submission",
      "provider_request_id",
      "provider_model",
      "answer",
      "http_status",
      "cost_micros",
    ),
    usage: column<Usage | null>("jsonb", true),
    contentId: maybe(text),
    text: maybe(text),
    isSealed: bool,
    sha256: maybe(text),
    byteLength: maybe(int4),
    expiresAt: maybe(timestamptz),
    payload: jsonb<NewEvent["payload"]>(),
    from: texts,
    status: text,
    leaseMs: maybe(int4),
    type: text,
  },
  row: {},
  sql: `WITH moved AS (
  UPDATE job SET status = $status::text, attention = coalesce($attention::jsonb, attention), last_event = last_event + 1,
    lease_owner = CASE WHEN $leaseMs::int IS NOT NULL THEN lease_owner END,
    lease_until = CASE WHEN $leaseMs::int IS NOT NULL THEN ${leaseFor("$leaseMs::int")} END
  WHERE id = $jobId AND fence = $fence AND status = ANY($from) RETURNING id, project_id, last_event
), answered AS (
  UPDATE attempt SET submission = $submission::text, provider_request_id = $provider_request_id, provider_model = $provider_model, answer = $answer::jsonb, usage = $usage::jsonb,
    http_status = $http_status, cost_micros = $cost_micros, answered_at = coalesce(attempt.answered_at, $now), ended_at = $now
  FROM moved WHERE attempt.id = $attemptId AND attempt.job_id = moved.id
), wrote AS (
  INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT $contentId, project_id, id, 'answer', $text, $isSealed, $sha256, $byteLength, $now, $expiresAt FROM moved WHERE $contentId::text IS NOT NULL
  ON CONFLICT (id) DO NOTHING
)
INSERT INTO event (project_id, job_id, id, type, payload, created_at)
SELECT project_id, id, last_event, $type, $payload::jsonb, $now FROM moved`,
});

/**
 * Keeps a provider's answer that was paid for and cannot be stored where it belongs; its outcome is stored in
 * the attempt. False if the lease is lost or the job is to be canceled.
 */
export async function setAside(kept: {
  jobId: string;
  fence: number;
  now: Date;
  next: Next;
  attempt: NonNullable<StoredAnswer["attempt"]>;
  /** The answer's content; null if it is too large to keep, or is kept already. */
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
  const { jobId, fence, now, attempt, content, next, event } = kept;
  const { id: contentId, ...stored } = content ?? { id: null, isSealed: false };
  const count = await settingAside.count(pool, {
    ...attempt,
    ...stored,
    jobId,
    fence,
    now,
    attention: next.status === "needs_attention" ? next.attention : null,
    attemptId: attempt.id,
    contentId,
    payload: event.payload,
    from: sourcesOf("needs_attention"),
    status: next.status,
    leaseMs: next.status === "running" ? next.leaseMs : null,
    type: event.type,
  });
  tell([jobId]);
  return count === 1;
}

const HELD = { jobId: text, fence: int4, leaseMs: int4 };
const holding = statement("hold-on", {
  params: HELD,
  row: {},
  sql: `UPDATE job SET lease_until = greatest(lease_until, ${leaseFor("$leaseMs::int")})
    WHERE id = $jobId AND fence = $fence AND status IN ('running', 'canceling')`,
});

/**
 * Extends the lease of a worker that waits to return to an answer that is kept. False if the lease is lost.
 */
export const holdOn = async (held: Of<typeof HELD>): Promise<boolean> =>
  (await holding.count(pool, held)) === 1;
