import { tell } from "@/server/domain/jobs/following/notify";
import { attempt } from "@/server/generated/schema";
import { writtenTogether } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import type { ReportedProgress, Tier } from "@/server/providers/define";
import {
  column,
  type Given,
  int4,
  jsonb,
  maybe,
  type Of,
  type Shape,
  text,
  timestamptz,
} from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { batch, statement } from "@/server/sql/statement";
import type { TierRefusal } from "../rows";
import { ofJob } from "./moves";

/** One call of a job that makes several, with the provider and model of the call. */
const OPENING = {
  jobId: text,
  projectId: text,
  fence: int4,
  attemptId: text,
  number: int4,
  /** Null for the main call. */
  stage: attempt.stage,
  provider: text,
  model: text,
  now: timestamptz,
};
type Opening = Of<typeof OPENING>;

const open = statement("open-attempt", {
  params: OPENING,
  row: { id: text },
  sql: `WITH held AS (
  SELECT id, project_id FROM job WHERE id = $jobId AND fence = $fence AND status = 'running' FOR NO KEY UPDATE
), opened AS (
  INSERT INTO attempt (id, project_id, job_id, number, fence, submission, stage, provider, model, started_at)
  SELECT $attemptId, project_id, id, $number, $fence, 'not_attempted', $stage, $provider, $model, $now
  FROM held WHERE project_id = $projectId
  ON CONFLICT (job_id, number) DO UPDATE SET stage = excluded.stage, provider = excluded.provider, model = excluded.model
    WHERE attempt.submission = 'not_attempted' AND attempt.capacity_rejections = 0
)
SELECT id FROM held`,
});

/**
 * Opens the attempt of the next call. The first attempt exists since the job was claimed and gets its stage
 * here; an attempt that has begun stays as it is. False if the lease is lost.
 */
export const openAttempt = async (opening: Opening): Promise<boolean> =>
  (await open.count(pool, opening)) === 1;

const BEGIN = {
  jobId: text,
  fence: int4,
  attemptId: text,
  /**
   * The process that is about to send, because another one may have claimed the job; null keeps the owner.
   */
  owner: maybe(text),
  tier: column<Tier>("text"),
  now: timestamptz,
};

const beginAll = batch("begin", {
  input: BEGIN,
  row: { id: text },
  sql: `WITH input AS $input, held AS (
  UPDATE job SET last_event = last_event + 1, lease_owner = coalesce(input.owner, lease_owner) FROM input
  WHERE job.id = input."jobId" AND job.fence = input.fence AND job.status = 'running'
    -- Two at once both find the attempt unsubmitted. The second then waits for the job's row and sees it changed; the
    -- attempt it would still see as it was.
    AND EXISTS (SELECT FROM attempt WHERE attempt.id = input."attemptId" AND attempt.submission = 'not_attempted'
      -- Somebody who read the attempt before its tier was refused asks for that tier again: once was enough.
      AND (attempt.tier_refusal IS NULL OR input.tier = 'standard'))
    AND job.last_event = (SELECT seen.last_event FROM job seen WHERE seen.id = input."jobId")
  RETURNING job.id, job.project_id, job.last_event, input."attemptId", input.tier, input.now
), begun AS (
  UPDATE attempt SET submission = 'ambiguous', submission_begun_at = held.now FROM held
  WHERE attempt.id = held."attemptId"
  RETURNING held.project_id, held.id, held.last_event, attempt.provider, attempt.model, "attemptId", held.tier, held.now
), added AS (
  INSERT INTO event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, id, last_event, 'job.provider_submitted',
    jsonb_build_object('provider', provider, 'model', model, 'attemptId', "attemptId", 'tier', tier), now FROM begun
)
SELECT id FROM held`,
});

/**
 * Records the submission before its request can leave. False if the attempt is not, or no longer, ours to
 * submit.
 */
export const beginSubmission = writtenTogether<Given<typeof BEGIN>>(ofJob, async (items) => {
  const rows = await beginAll.all(pool, items);
  tell(items.map(ofJob));
  return rows;
});

/** The lease lasts at least `leaseMs` from now, which covers the wait that follows. */
const WAITING = { jobId: text, fence: int4, attemptId: text, leaseMs: int4 };
type Waiting = Of<typeof WAITING>;

/** Locks the job and then writes its attempt, only while the fence holds. */
const waiting = <C extends Shape>(name: string, written: C, set: string) =>
  statement(name, {
    params: { ...WAITING, ...written },
    row: {},
    sql: `WITH mine AS (
  UPDATE job SET lease_until = greatest(lease_until, ${leaseFor("$leaseMs::int")})
  WHERE id = $jobId AND fence = $fence AND status IN ('running', 'canceling') RETURNING id
)
UPDATE attempt SET submission = 'not_attempted', ${set} FROM mine WHERE attempt.id = $attemptId AND attempt.job_id = mine.id`,
  });

const taking = waiting(
  "take-back",
  { capacityRejections: int4 },
  "capacity_rejections = $capacityRejections",
);
/**
 * Lets the attempt be submitted again after a definite refusal, or after nothing was sent. False if the lease
 * is lost.
 */
export const releaseSubmission = async (given: Waiting & { capacityRejections: number }): Promise<boolean> =>
  (await taking.count(pool, given)) === 1;

const leaving = waiting("leave-tier", { refusal: jsonb<TierRefusal>() }, "tier_refusal = $refusal::jsonb");
/**
 * Lets the same attempt be submitted once more, on standard, after the provider refused the tier; the refusal
 * is stored with the attempt. False if the lease is lost.
 */
export const fallBackToStandard = async (given: Waiting & { refusal: TierRefusal }): Promise<boolean> =>
  (await leaving.count(pool, given)) === 1;

const HANDLE = {
  ...WAITING,
  handle: jsonb<Json>(),
  progress: maybe(jsonb<ReportedProgress>()),
  /** The time at which the first byte of the request could leave; null keeps the stored time. */
  sentAt: maybe(timestamptz),
  now: timestamptz,
};
const keep = statement("keep-handle", {
  params: { ...HANDLE, updatedAt: text },
  row: {},
  sql: `WITH held AS (
  SELECT id, $progress::jsonb IS NOT NULL AND $progress IS DISTINCT FROM progress - 'updatedAt' AS has_news FROM job
  WHERE id = $jobId AND fence = $fence AND status IN ('running', 'canceling') FOR NO KEY UPDATE
), mine AS (
  UPDATE job SET lease_until = greatest(lease_until, ${leaseFor("$leaseMs::int")}), last_event = last_event + CASE WHEN has_news THEN 1 ELSE 0 END,
    progress = CASE WHEN has_news THEN $progress || jsonb_build_object('updatedAt', $updatedAt::text) ELSE progress END
  FROM held WHERE job.id = held.id RETURNING job.id, project_id, last_event, has_news
), added AS (
  INSERT INTO event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, id, last_event, 'job.progress', $progress, $now::timestamptz FROM mine WHERE has_news
)
UPDATE attempt SET submission = 'attempted', handle = $handle::jsonb,
  submission_begun_at = coalesce($sentAt::timestamptz, submission_begun_at) FROM mine
WHERE attempt.id = $attemptId AND attempt.job_id = mine.id`,
});

/**
 * Stores the handle by which the provider can be asked for the work, and the progress that it reports; new
 * progress adds an event. False if the lease is lost.
 */
export async function keepHandle(kept: Given<typeof HANDLE>): Promise<boolean> {
  const count = await keep.count(pool, { ...kept, updatedAt: kept.now.toISOString() });
  if (kept.progress) tell([kept.jobId]);
  return count === 1;
}
