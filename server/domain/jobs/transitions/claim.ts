import { goodFrom } from "@/server/domain/executions";
import { tell } from "@/server/domain/jobs/following/notify";
import { limitByPlan, limitInSql } from "@/server/domain/plans";
import { batched } from "@/server/platform/batch";
import { pool, relaxedPool } from "@/server/platform/db";
import { bool, column, int4, names, type Of, present, text, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { batch, statement } from "@/server/sql/statement";
import { type AttemptRow, attemptFromJson, JOB, REQUEST, REQUEST_COLUMNS } from "../rows";
import { ofJob } from "./moves";

const CLAIM = { jobId: text, runId: text, owner: text, attemptId: text, leaseMs: int4, now: timestamptz };
export type Claim = Of<typeof CLAIM>;

/** The limit of running jobs of each plan; null if no plan has one. */
const byPlan = column<Record<string, number | null> | null>("jsonb", true);

/** A job as it is after its claim, with its request and its attempt. */
const CLAIMED = {
  ...JOB,
  ...REQUEST,
  attempt: column<AttemptRow>("json"),
  is_resumed: present(bool, "the row was there before it was claimed"),
  /** The plan limits how many jobs run at once, so another job may wait for this one's end. */
  is_bounded: bool,
};
export type Claimed = Of<typeof CLAIMED> & {
  /** The lease lasts at least until this time of this process's steady clock. */
  goodUntil: number;
};

/** The limit of a plan applies to a queued job; a job that already runs goes on regardless. */
const claimAll = batch("claim", {
  input: { ...CLAIM, byPlan },
  row: CLAIMED,
  sql: `WITH input AS $input, bounded AS MATERIALIZED (
  SELECT job.id, job.organization_id, ${limitInSql("concurrentDurableJobs", 'input."byPlan"')} AS most,
    row_number() OVER (PARTITION BY job.organization_id ORDER BY job.id) AS place
  FROM input JOIN job ON job.id = input."jobId" JOIN organization ON organization.id = job.organization_id
  WHERE job.status = 'queued' AND job.operation = 'jobs'
    AND (input."byPlan" IS NOT NULL OR organization.settings->'limits' ? 'concurrentDurableJobs')
), full_ones AS MATERIALIZED (
  SELECT bounded.id FROM bounded JOIN capstan_rooms(ARRAY(SELECT organization_id FROM bounded ORDER BY id),
    ARRAY(SELECT most FROM bounded ORDER BY id)) rooms USING (organization_id) WHERE place > room
), claimed AS (
  UPDATE job SET status = 'running', fence = fence + 1, lease_owner = input.owner, run_id = input."runId",
    lease_until = ${leaseFor('input."leaseMs"')}, dispatch_state = 'none',
    started_at = coalesce(started_at, input.now), last_event = last_event + CASE WHEN status = 'queued' THEN 1 ELSE 0 END
  FROM input
  WHERE job.id = input."jobId" AND CASE
    WHEN status = 'queued' THEN queue_deadline_at > input.now AND job.id NOT IN (SELECT id FROM full_ones)
    WHEN status = 'running' THEN lease_until < clock_timestamp() AND (
      SELECT bool_or(handle IS NOT NULL OR answer IS NOT NULL) FROM attempt WHERE attempt.job_id = job.id)
    ELSE false END
  RETURNING job.*, input.now AS claimed_at, input."attemptId" AS claimed_for,
    (SELECT old.status FROM job old WHERE old.id = job.id) AS was
), tried AS (
  INSERT INTO attempt (id, project_id, job_id, number, fence, submission, provider, model, started_at)
  SELECT claimed_for, project_id, id, 1, fence, 'not_attempted', provider, model, claimed_at FROM claimed
  ON CONFLICT (job_id, number) DO UPDATE SET fence = excluded.fence
  RETURNING attempt.*
), added AS (
  INSERT INTO event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, id, last_event, 'job.started', jsonb_build_object('attempt', 1), claimed_at FROM claimed WHERE was = 'queued'
)
SELECT ${names(JOB, "claimed")}, ${REQUEST_COLUMNS}, to_json(tried) AS attempt, was <> 'queued' AS is_resumed,
  EXISTS (SELECT FROM bounded WHERE bounded.id = claimed.id AND most IS NOT NULL) AS is_bounded
FROM claimed JOIN tried ON tried.job_id = claimed.id
  LEFT JOIN payload ON payload.job_id = claimed.id AND payload.kind = 'request'`,
});

/**
 * Claims a job for a worker. A queued job becomes running under a new lease and fence; a running one whose
 * lease has ended is taken over if a provider handle or a stored answer lets it continue. Null if no claim is
 * possible: another worker holds the job, it has ended, its queue deadline has passed, or its plan has no
 * room. The commit need not wait for the disk, because beginning a submission does, and nothing happens
 * before that.
 */
export const claim = batched<Claim, Claimed | null>(
  async (items) => {
    const byPlan = limitByPlan("concurrentDurableJobs");
    const sentAt = performance.now();
    const rows = await claimAll.all(
      relaxedPool,
      items.map((item) => ({ ...item, byPlan })),
    );
    const leaseOf = new Map(items.map(({ jobId, leaseMs }) => [jobId, leaseMs]));
    const claimed = new Map(
      rows.map((row) => [
        row.id,
        {
          ...row,
          attempt: attemptFromJson(row.attempt),
          goodUntil: goodFrom(sentAt, leaseOf.get(row.id)),
        },
      ]),
    );
    tell(claimed.keys());
    return items.map((item) => claimed.get(item.jobId) ?? null);
  },
  { apart: ofJob },
);

const runsClaim = statement("claimed-by", {
  params: { jobId: text, runId: text, byPlan },
  row: { attemptId: text, fence: int4, isBounded: bool },
  prepared: true,
  sql: `SELECT attempt.id AS "attemptId", job.fence,
      (${limitInSql("concurrentDurableJobs", "$byPlan::jsonb")}) IS NOT NULL AS "isBounded"
    FROM job JOIN attempt ON attempt.job_id = job.id AND attempt.number = 1
      JOIN organization ON organization.id = job.organization_id
    WHERE job.id = $jobId AND job.run_id = $runId AND job.status IN ('running', 'canceling')`,
});

/**
 * The claim of an engine run whose job is running or canceling; null otherwise. For a step that is delivered
 * again and for a run that slept.
 */
export const claimedBy = (jobId: string, runId: string) =>
  runsClaim.first(pool, { jobId, runId, byPlan: limitByPlan("concurrentDurableJobs") });
