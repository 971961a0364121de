import { batched } from "@/server/batch";
import { pool } from "@/server/db";
import type { ReportedProgress, Tier } from "@/server/providers/define";
import { statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import { tell } from "../notify";
import type { TierRefusal } from "../rows";
import { apart } from "./moves";

/** A call of a job that makes several: which one it is, and whom it goes to. */
export type Opening = {
  jobId: string;
  projectId: string;
  fence: number;
  attemptId: string;
  number: number;
  /** Null: the main call. */
  stage: string | null;
  provider: string;
  model: string;
  now: Date;
};

/**
 * Opens the attempt of the next call. The first number is there since the job was claimed, and is told what it is for; one
 * that was opened before stays as it is. False: the lease is lost.
 */
export async function openAttempt(opening: Opening): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH held AS (
       SELECT id, project_id FROM job WHERE id = $1 AND fence = $3 AND status = 'running' FOR NO KEY UPDATE
     ), opened AS (
       INSERT INTO attempt (id, project_id, job_id, number, fence, submission, stage, provider, model, started_at)
       SELECT $4, project_id, id, $5, $3, 'not_attempted', $6, $7, $8, $9 FROM held WHERE project_id = $2
       ON CONFLICT (job_id, number) DO UPDATE SET stage = excluded.stage, provider = excluded.provider, model = excluded.model
         WHERE attempt.submission = 'not_attempted' AND attempt.capacity_rejections = 0
     )
     SELECT id FROM held`,
    [
      opening.jobId,
      opening.projectId,
      opening.fence,
      opening.attemptId,
      opening.number,
      opening.stage,
      opening.provider,
      opening.model,
      opening.now,
    ],
  );
  return rowCount === 1;
}

/** `owner`: the process that is about to send, where another one may have claimed the job. */
export type Begin = {
  jobId: string;
  fence: number;
  attemptId: string;
  owner?: string;
  tier: Tier;
  now: Date;
};

const beginAll = statementOver<Begin>(
  "begin",
  { jobId: "text", fence: "int", attemptId: "text", owner: "text", tier: "text", now: "timestamptz" },
  `, held AS (
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
), told AS (
  INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, id, last_event, 'job.provider_submitted',
    jsonb_build_object('provider', provider, 'model', model, 'attemptId', "attemptId", 'tier', tier), now FROM begun
)
SELECT "attemptId" FROM held`,
);

/** Writes down that the request may leave, before it does. False: the attempt is not ours to submit (any more). */
export const beginSubmission = batched<Begin, boolean>(
  async (items) => {
    const { rows } = await pool.query<{ attemptId: string }>(beginAll(items));
    const begun = new Set(rows.map((row) => row.attemptId));
    tell(items.map((item) => item.jobId));
    return items.map((item) => begun.has(item.attemptId));
  },
  { apart },
);

type Waiting = { jobId: string; fence: number; attemptId: string; leaseUntil: Date };

/** Locks the job, then writes its attempt, where the fence still holds; its lease covers the wait that comes. */
async function writeWaiting(waiting: Waiting, set: string, value: unknown): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH mine AS (
       UPDATE job SET lease_until = greatest(lease_until, $4)
       WHERE id = $1 AND fence = $2 AND status IN ('running', 'canceling') RETURNING id
     )
     UPDATE attempt SET ${set} FROM mine WHERE attempt.id = $3 AND attempt.job_id = mine.id`,
    [waiting.jobId, waiting.fence, waiting.attemptId, waiting.leaseUntil, value],
  );
  return rowCount === 1;
}

/** After a definite refusal, or when nothing left: the attempt may be submitted again. False: the lease is lost. */
export function takeBack({
  capacityRejections,
  ...waiting
}: Waiting & { capacityRejections: number }): Promise<boolean> {
  return writeWaiting(waiting, "submission = 'not_attempted', capacity_rejections = $5", capacityRejections);
}

/**
 * After the provider refused the tier: the same attempt may be submitted once more, on standard. What was refused is
 * kept with it. False: the lease is lost.
 */
export function leaveTier({ refusal, ...waiting }: Waiting & { refusal: TierRefusal }): Promise<boolean> {
  const set = "submission = 'not_attempted', tier_refusal = $5::jsonb";
  return writeWaiting(waiting, set, JSON.stringify(refusal));
}

/**
 * Keeps by what name the provider can be asked for the work it took, and how far it says it is: an event where that is
 * news. False: the lease is lost.
 */
export async function keepHandle({
  handle,
  progress = null,
  now,
  ...waiting
}: Waiting & { handle: Json; progress?: ReportedProgress | null; now: Date }): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH held AS (
       SELECT id, $6::jsonb IS NOT NULL AND $6 IS DISTINCT FROM progress - 'updatedAt' AS has_news FROM job
       WHERE id = $1 AND fence = $2 AND status IN ('running', 'canceling') FOR NO KEY UPDATE
     ), mine AS (
       UPDATE job SET lease_until = greatest(lease_until, $4), last_event = last_event + CASE WHEN has_news THEN 1 ELSE 0 END,
         progress = CASE WHEN has_news THEN $6 || jsonb_build_object('updatedAt', $7::text) ELSE progress END
       FROM held WHERE job.id = held.id RETURNING job.id, project_id, last_event, has_news
     ), told AS (
       INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
       SELECT project_id, id, last_event, 'job.progress', $6, $7::timestamptz FROM mine WHERE has_news
     )
     UPDATE attempt SET submission = 'attempted', handle = $5::jsonb FROM mine
     WHERE attempt.id = $3 AND attempt.job_id = mine.id`,
    [
      waiting.jobId,
      waiting.fence,
      waiting.attemptId,
      waiting.leaseUntil,
      JSON.stringify(handle),
      progress && JSON.stringify(progress),
      now.toISOString(),
    ],
  );
  if (progress) tell([waiting.jobId]);
  return rowCount === 1;
}
