import type pg from "pg";
import { batched } from "@/server/batch";
import type { FileFacts } from "@/server/capabilities/define";
import { sealContent } from "@/server/content";
import type { JobStatus } from "@/server/contract/jobs";
import { pool, queryKeeping, relaxedPool } from "@/server/db";
import {
  ALLOWANCE_MICROS,
  type Funding,
  refuseReservation,
  resolved,
  TRIAL_CEILING_MICROS,
} from "@/server/domain/budgets";
import { type Bounds, limitByPlan, limitInSql, refuseWork, TAKEN } from "@/server/domain/plans";
import { failpoint } from "@/server/failpoint";
import type { Micros } from "@/server/money";
import type { ReportedProgress, Tier } from "@/server/providers/define";
import { OF_INPUT, statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import { wakeAdmitted } from "./dispatch";
import { tell } from "./notify";
import {
  type AttemptRow,
  attemptFromJson,
  type JobWithRequest,
  REQUEST_COLUMNS,
  type TierRefusal,
} from "./rows";

/**
 * The table of moves. Anything else is refused; a terminal status has no row.
 * Every statement of this file that writes a status takes its condition from here.
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
const apart = (item: { jobId: string }) => item.jobId;

export type NewEvent = { type: string; payload: Record<string, Json> };

/** Everything admission writes, in one statement: key, job, request, hold, attempt (of a synchronous run) and events. */
export type Admission = {
  id: string;
  project_id: string;
  organization_id: string;
  environment: string;
  product_id: string;
  principal_id: string;
  principal_kind: string;
  operation: "jobs" | "invoke";
  mode: string;
  capability_key: string;
  status: "queued" | "running" | "awaiting_approval";
  idempotency_key: string;
  request_hash: string;
  external_ref: string | null;
  tags: string[];
  metadata: Json;
  correlation_id: string | null;
  task_kind: string | null;
  data_classification: string;
  retention_requirement: string;
  billing_mode: string;
  provider: string;
  model: string;
  quote_id: string | null;
  pricing_version: string;
  pricing: Json;
  estimated_micros: Micros;
  maximum_micros: Micros;
  queue_seconds: number;
  queue_deadline_at: Date;
  execution_seconds: number;
  created_at: Date;
  started_at: Date | null;
  fence: number;
  lease_owner: string | null;
  lease_until: Date | null;
  dispatch_state: "pending" | "none";
  dispatch_after: Date;
  last_event: number;
  requested_variants: number | null;
  warnings: Json;
  approval: Json;
  approval_deadline_at: Date | null;
  submitted_by: string | null;
  retry_of: string | null;
  maturity: Json;
  payload_is_sealed: boolean;
  payload_id: string;
  /** In the clear, sealed on its way into the row; null: not kept. */
  payload_content: string | null;
  payload_sha256: string;
  payload_bytes: number;
  payload_expires_at: Date | null;
  hold_id: string | null;
  /** The accounts of its organization's own that it may run on. */
  credential_ids: string[];
  /** What the call itself asks of stored budgets; they are never weaker than they say themselves. */
  budget_enforcement: "off" | "warn" | "prevent" | null;
  is_test: boolean;
  attempt_id: string | null;
  attempt_submission: "not_attempted" | "ambiguous" | null;
  events: NewEvent[];
} & Bounds;

const ADMISSION = {
  id: "text",
  project_id: "text",
  organization_id: "text",
  environment: "text",
  product_id: "text",
  principal_id: "text",
  principal_kind: "text",
  operation: "text",
  mode: "text",
  capability_key: "text",
  status: "text",
  idempotency_key: "text",
  request_hash: "text",
  external_ref: "text",
  tags: "text[]",
  metadata: "jsonb",
  correlation_id: "text",
  task_kind: "text",
  data_classification: "text",
  retention_requirement: "text",
  billing_mode: "text",
  provider: "text",
  model: "text",
  quote_id: "text",
  pricing_version: "text",
  pricing: "jsonb",
  estimated_micros: "bigint",
  maximum_micros: "bigint",
  queue_seconds: "int",
  queue_deadline_at: "timestamptz",
  execution_seconds: "int",
  created_at: "timestamptz",
  started_at: "timestamptz",
  fence: "int",
  lease_owner: "text",
  lease_until: "timestamptz",
  dispatch_state: "text",
  dispatch_after: "timestamptz",
  last_event: "int",
  requested_variants: "int",
  warnings: "jsonb",
  approval: "jsonb",
  approval_deadline_at: "timestamptz",
  submitted_by: "text",
  retry_of: "text",
  maturity: "jsonb",
  payload_is_sealed: "boolean",
  payload_id: "text",
  payload_content: "text",
  payload_sha256: "text",
  payload_bytes: "int",
  payload_expires_at: "timestamptz",
  hold_id: "text",
  credential_ids: "text[]",
  budget_enforcement: "text",
  is_test: "boolean",
  attempt_id: "text",
  attempt_submission: "text",
  events: "jsonb",
  most_active: "int",
  most_inferences: "int",
} as const;

const admitting = (name: string, counts: boolean) =>
  statementOver<Admission>(
    name,
    ADMISSION,
    `, admitted AS (
  INSERT INTO job (id, project_id, organization_id, environment, product_id, principal_id, principal_kind, operation,
    mode, capability_key, status, idempotency_key, request_hash, external_ref, tags, metadata, correlation_id, task_kind,
    data_classification, retention_requirement, billing_mode, provider, model, quote_id, pricing_version, pricing,
    estimated_micros, maximum_micros, queue_seconds, queue_deadline_at, execution_seconds, created_at, started_at, fence,
    lease_owner, lease_until, dispatch_state, dispatch_after, last_event, requested_variants, warnings, approval,
    approval_deadline_at, submitted_by, retry_of, maturity, webhook_event)
  SELECT id, project_id, organization_id, environment, product_id, principal_id, principal_kind, operation,
    mode, capability_key, status, idempotency_key, request_hash, external_ref, tags, metadata, correlation_id, task_kind,
    data_classification, retention_requirement, billing_mode, provider, model, quote_id, pricing_version, pricing,
    estimated_micros, maximum_micros, queue_seconds, queue_deadline_at, execution_seconds, created_at, started_at, fence,
    lease_owner, lease_until, dispatch_state, dispatch_after, last_event, requested_variants, warnings, approval,
    approval_deadline_at, submitted_by, retry_of, maturity,
    CASE WHEN EXISTS (SELECT FROM delivery_endpoint endpoint WHERE endpoint.organization_id = input.organization_id) THEN 0 END
  FROM input
  ON CONFLICT (project_id, operation, idempotency_key) DO NOTHING
  RETURNING id
), mine AS ${OF_INPUT} (
  SELECT input.* FROM input JOIN admitted USING (id)
), request AS (
  INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT payload_id, project_id, id, 'request', payload_content, payload_is_sealed, payload_sha256, payload_bytes, created_at,
    payload_expires_at
  FROM mine
), ${TAKEN}, reserved AS MATERIALIZED (
  SELECT * FROM capstan_reserve(ARRAY(
    SELECT ROW(hold_id, id, organization_id, project_id, principal_id, submitted_by, billing_mode, credential_ids, is_test,
      maximum_micros, budget_enforcement, created_at)::reservation
    FROM mine, taken WHERE hold_id IS NOT NULL), ${ALLOWANCE_MICROS}, ${TRIAL_CEILING_MICROS})
), held AS (
  INSERT INTO hold (id, organization_id, project_id, execution_id, principal_id, person_id, billing_mode, credential_ids,
    is_test, funding, amount_micros, state, created_at)
  SELECT mine.hold_id, organization_id, project_id, id, principal_id, submitted_by, billing_mode, credential_ids, is_test, reserved.funding,
    maximum_micros, 'open', created_at
  FROM mine JOIN reserved USING (hold_id)
), ${
      counts
        ? `counted AS MATERIALIZED (
  SELECT capstan_count_panel_jobs(ARRAY(SELECT principal_id FROM mine CROSS JOIN taken LEFT JOIN reserved USING (hold_id)
    WHERE principal_kind = 'panel_session'))
), `
        : ""
    }tried AS (
  INSERT INTO attempt (id, project_id, job_id, number, fence, submission, provider, model, started_at, submission_begun_at)
  SELECT attempt_id, project_id, id, 1, fence, attempt_submission, provider, model, started_at,
    CASE WHEN attempt_submission = 'ambiguous' THEN started_at END
  FROM mine WHERE attempt_id IS NOT NULL
), told AS (
  INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, mine.id, event.position, event.value->>'type', event.value->'payload', created_at
  FROM mine, jsonb_array_elements(events) WITH ORDINALITY AS event(value, position)
)
SELECT id, funding, reserved.warnings FROM mine CROSS JOIN taken LEFT JOIN reserved USING (hold_id)${counts ? " CROSS JOIN counted" : ""}`,
  );

/** Of keys and people, who have no cap of jobs. */
const admitAll = admitting("admit", false);
/** With panel sessions among them, whose jobs are counted when all else is locked. */
const admitCounting = admitting("admit-panel", true);

/** The statement for these, in one order everywhere, as keys of one name wait for each other. */
function admission(items: Admission[]) {
  const statement = items.some((item) => item.principal_kind === "panel_session") ? admitCounting : admitAll;
  return statement(items.map(sealed).toSorted(byKey));
}

const byKey = (one: Admission, other: Admission) =>
  one.project_id + one.idempotency_key < other.project_id + other.idempotency_key ? -1 : 1;

/** With the request encrypted, where it must not stand in the clear. */
function sealed(item: Admission): Admission {
  if (!item.payload_is_sealed || item.payload_content === null) return item;
  return { ...item, payload_content: sealContent(item.payload_content, item.payload_id) };
}

export type Admitted = {
  funding: Funding;
  /** Of stored budgets that only warn: on the job's row and among its events already. */
  budgetWarnings: Record<string, Json>[];
};

/**
 * Admits, sets the money aside and wakes the engine, which is told before the answer is made; null where the key was
 * already taken (nothing was written then). Concurrent calls share statements. Throws BudgetExceeded or funding_required where there is no room, and has written nothing then either.
 */
export const insertAdmitted = batched<Admission, Admitted | null>(async (items) => {
  const { rows } = await queryKeeping<{
    id: string;
    funding: Funding;
    warnings: Record<string, Json>[] | null;
  }>(admission(items))
    .catch(refuseWork)
    .catch(refuseReservation);
  const admitted = new Map(
    rows.map(({ id, funding, warnings }) => [id, { funding, budgetWarnings: warnings ?? [] }]),
  );
  if (admitted.size > 0) failpoint("after-admission");
  await wakeAdmitted(items.filter(({ id }) => admitted.has(id)));
  return items.map((item) => admitted.get(item.id) ?? null);
});

/**
 * Admits several as the blind competitors of one comparison, inside a transaction: all of them or, by throwing what
 * `insertAdmitted` throws, none.
 */
export async function insertTogether(
  client: pg.PoolClient,
  comparisonId: string,
  items: Admission[],
): Promise<void> {
  // Warnings of budgets stay on the rows: as events they would tell the dearer from the cheaper.
  await client.query("SET LOCAL capstan.warn_quietly = 'on'");
  const { rows } = await client
    .query<{ id: string }>(admission(items))
    .catch(refuseWork)
    .catch(refuseReservation);
  if (rows.length !== items.length) throw new Error("the idempotency key of a competitor was taken");
  await client.query({
    name: "make-blind",
    text: "UPDATE job SET comparison_id = $1, is_blind = true WHERE id = ANY($2)",
    values: [comparisonId, items.map(({ id }) => id)],
  });
}

type Key = { projectId: string; operation: "jobs" | "invoke"; key: string };

const findFirst = statementOver<Key & { place: number }>(
  "first-of-key",
  { place: "int", projectId: "text", operation: "text", key: "text" },
  `
SELECT input.place, job.id, CASE WHEN job.comparison_id IS NULL THEN job.request_hash ELSE '' END AS request_hash
FROM input JOIN job
  ON job.project_id = input."projectId" AND job.operation = input.operation AND job.idempotency_key = input.key`,
);

/**
 * The job a key stands for; null when it is free. Concurrent calls share statements. A competitor's key belongs to its
 * comparison and has the hash of no request: by replaying it one could find out which of them it is.
 */
export const firstOfKey = batched<Key, { id: string; request_hash: string } | null>(async (keys) => {
  const { rows } = await pool.query<{ place: number; id: string; request_hash: string }>(
    findFirst(keys.map((key, place) => ({ ...key, place }))),
  );
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, place) => found.get(place) ?? null);
});

export type Claim = {
  jobId: string;
  runId: string;
  owner: string;
  attemptId: string;
  leaseMs: number;
  now: Date;
};
/** With how many may run at once by each plan; null: no plan says. */
type BoundedClaim = Claim & { byPlan: Record<string, number | null> | null };
/** A job that was taken, as it stands then, with its request and its attempt. */
export type Claimed = JobWithRequest & {
  attempt: AttemptRow;
  is_resumed: boolean;
  /** The plan bounds how many run at once: another may wait for this one's end. */
  is_bounded: boolean;
};

/** What a plan says of the next job to start; a job that runs already goes on, whatever it says. */
const claimAll = statementOver<BoundedClaim>(
  "claim",
  {
    jobId: "text",
    runId: "text",
    owner: "text",
    attemptId: "text",
    leaseMs: "int",
    now: "timestamptz",
    byPlan: "jsonb",
  },
  `, bounded AS MATERIALIZED (
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
    lease_until = input.now + input."leaseMs" * interval '1 millisecond', dispatch_state = 'none',
    started_at = coalesce(started_at, input.now), last_event = last_event + CASE WHEN status = 'queued' THEN 1 ELSE 0 END
  FROM input
  WHERE job.id = input."jobId" AND CASE
    WHEN operation <> 'jobs' THEN false
    WHEN status = 'queued' THEN queue_deadline_at > input.now AND job.id NOT IN (SELECT id FROM full_ones)
    WHEN status = 'running' THEN lease_until < input.now AND (
      SELECT bool_or(handle IS NOT NULL OR answer IS NOT NULL) FROM attempt WHERE attempt.job_id = job.id)
    ELSE false END
  RETURNING job.*, input.now AS claimed_at, input."attemptId" AS claimed_for,
    (SELECT old.status FROM job old WHERE old.id = job.id) AS was
), tried AS (
  INSERT INTO attempt (id, project_id, job_id, number, fence, submission, provider, model, started_at)
  SELECT claimed_for, project_id, id, 1, fence, 'not_attempted', provider, model, claimed_at FROM claimed
  ON CONFLICT (job_id, number) DO UPDATE SET fence = excluded.fence
  RETURNING attempt.*
), told AS (
  INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
  SELECT project_id, id, last_event, 'job.started', jsonb_build_object('attempt', 1), claimed_at FROM claimed WHERE was = 'queued'
)
SELECT claimed.*, ${REQUEST_COLUMNS}, to_json(tried) AS attempt, was <> 'queued' AS is_resumed,
  EXISTS (SELECT FROM bounded WHERE bounded.id = claimed.id AND most IS NOT NULL) AS is_bounded
FROM claimed JOIN tried ON tried.job_id = claimed.id
  LEFT JOIN payload ON payload.job_id = claimed.id AND payload.kind = 'request'`,
);

/**
 * A worker takes a job: queued becomes running under a new lease and fence; a running one whose lease is gone is taken
 * over where a provider handle or a stored answer lets it go on. Null: somebody else's, ended, or too late.
 * A claim that the database forgets in a crash has done nothing yet: beginning a submission waits for the disk.
 */
export const claim = batched<Claim, Claimed | null>(
  async (items) => {
    const byPlan = limitByPlan("concurrentDurableJobs");
    const { rows } = await relaxedPool.query<Claimed>(claimAll(items.map((item) => ({ ...item, byPlan }))));
    const claimed = new Map(rows.map((row) => [row.id, { ...row, attempt: attemptFromJson(row.attempt) }]));
    tell(claimed.keys());
    return items.map((item) => claimed.get(item.jobId) ?? null);
  },
  { apart },
);

/** What a run of the engine claimed and has not ended, for a step of it that is delivered again. */
export async function claimedBy(
  jobId: string,
  runId: string,
): Promise<{ attemptId: string; fence: number } | null> {
  const { rows } = await pool.query<{ attemptId: string; fence: number }>({
    name: "claimed-by",
    text: `SELECT attempt.id AS "attemptId", job.fence FROM job JOIN attempt ON attempt.job_id = job.id AND attempt.number = 1
      WHERE job.id = $1 AND job.run_id = $2 AND job.status IN ('running', 'canceling')`,
    values: [jobId, runId],
  });
  return rows[0] ?? null;
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

export type StoredArtifact = {
  artifact_id: string;
  media_type: string;
  sha256: string;
  byte_length: number;
  filename: string;
  kind: string;
  label: string | null;
  variant_index: number | null;
  slice_cell_id: string | null;
  slot_status: string | null;
  facts: FileFacts | null;
  expires_at: Date | null;
};

/** A stored answer: content in a prunable payload row and the artifact store, figures and names in the attempt. */
export type StoredAnswer = {
  attempt: {
    id: string;
    submission: "not_attempted" | "ambiguous" | "attempted";
    provider_request_id: string | null;
    provider_model: string | null;
    answer: Json;
    usage: Json;
    http_status: number | null;
    error_code: string | null;
    error_message: string | null;
    cost_micros: Micros | null;
    answered_at: Date | null;
    ended_at: Date | null;
  } | null;
  output: {
    id: string;
    content: string;
    /** `content` is in the clear here, and encrypted in its row. */
    is_sealed: boolean;
    sha256: string;
    byte_length: number;
    expires_at: Date | null;
  } | null;
  artifacts: StoredArtifact[];
};

/** The files of an answer. Left out of a statement whose items have none: opening two tables costs a tenth of it. */
const STORE_FILES = `
, kept AS (
  INSERT INTO artifact (id, project_id, media_type, sha256, byte_length, filename, created_at, expires_at)
  SELECT x.artifact_id, moved.project_id, x.media_type, x.sha256, x.byte_length, x.filename, moved.now, x.expires_at
  FROM moved, jsonb_to_recordset(moved.artifacts) AS x(artifact_id text, media_type text, sha256 text, byte_length bigint,
    filename text, expires_at timestamptz)
), listed AS (
  INSERT INTO job_artifact (project_id, job_id, artifact_id, position, kind, label, variant_index,
    slice_cell_id, slot_status, facts)
  SELECT moved.project_id, moved.id, x.value->>'artifact_id',
    -- After those that are there already, of a stage before.
    moved.artifact_count - jsonb_array_length(moved.artifacts) + x.position, x.value->>'kind', x.value->>'label',
    (x.value->>'variant_index')::int, x.value->>'slice_cell_id', x.value->>'slot_status',
    nullif(x.value->'facts', 'null')
  FROM moved, jsonb_array_elements(moved.artifacts) WITH ORDINALITY AS x(value, position)
)`;

/** The jobs that were written to, with what there is to be stored of each. */
const WRITTEN = `, moved AS ${OF_INPUT} (
  SELECT written.*, input.* FROM written JOIN input ON input."jobId" = written.id
)`;

const haveFiles = (items: StoredAnswer[]) => items.some((item) => item.artifacts.length > 0);

/** Common part of the statements that store an answer; `moved` holds the rows they may write to. */
const STORE_ANSWER = `
, answered AS (
  UPDATE attempt SET submission = moved.attempt_submission, provider_request_id = moved.attempt_provider_request_id,
    provider_model = moved.attempt_provider_model, answer = coalesce(moved.attempt_answer, attempt.answer),
    usage = moved.attempt_usage, http_status = moved.attempt_http_status, error_code = moved.attempt_error_code,
    error_message = moved.attempt_error_message, cost_micros = moved.attempt_cost_micros,
    answered_at = moved.attempt_answered_at, ended_at = moved.attempt_ended_at
  FROM moved WHERE attempt.id = moved.attempt_id
), wrote AS (
  INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT output_id, project_id, id, 'output', output_content, output_is_sealed, output_sha256, output_byte_length, now, output_expires_at
  FROM moved WHERE output_id IS NOT NULL
), told AS (
  INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
  SELECT moved.project_id, moved.id, moved.last_event - jsonb_array_length(moved.events) + event.position,
    event.value->>'type', event.value->'payload', moved.now
  FROM moved, jsonb_array_elements(moved.events) WITH ORDINALITY AS event(value, position)
)`;

/** An answer's fields as columns of one row: what is no list needs no JSON inside the database. */
const ANSWER_COLUMNS = {
  attempt_id: "text",
  attempt_submission: "text",
  attempt_provider_request_id: "text",
  attempt_provider_model: "text",
  attempt_answer: "jsonb",
  attempt_usage: "jsonb",
  attempt_http_status: "int",
  attempt_error_code: "text",
  attempt_error_message: "text",
  attempt_cost_micros: "bigint",
  attempt_answered_at: "timestamptz",
  attempt_ended_at: "timestamptz",
  output_id: "text",
  output_content: "text",
  output_is_sealed: "boolean",
  output_sha256: "text",
  output_byte_length: "int",
  output_expires_at: "timestamptz",
  artifacts: "jsonb",
} as const;

const toAnswerRow = ({ attempt, output, artifacts }: StoredAnswer) => ({
  attempt_id: attempt?.id,
  attempt_submission: attempt?.submission,
  attempt_provider_request_id: attempt?.provider_request_id,
  attempt_provider_model: attempt?.provider_model,
  attempt_answer: attempt?.answer,
  attempt_usage: attempt?.usage,
  attempt_http_status: attempt?.http_status,
  attempt_error_code: attempt?.error_code,
  attempt_error_message: attempt?.error_message,
  attempt_cost_micros: attempt?.cost_micros,
  attempt_answered_at: attempt?.answered_at,
  attempt_ended_at: attempt?.ended_at,
  output_id: output?.id,
  output_content: output?.is_sealed ? sealContent(output.content, output.id) : output?.content,
  output_is_sealed: output?.is_sealed,
  output_sha256: output?.sha256,
  output_byte_length: output?.byte_length,
  output_expires_at: output?.expires_at,
  artifacts,
});

export type Answer = StoredAnswer & { jobId: string; fence: number; now: Date; events: NewEvent[] };

const toAnswerInput = ({ jobId, fence, now, events, ...stored }: Answer) => ({
  jobId,
  fence,
  now,
  events,
  ...toAnswerRow(stored),
});

const ANSWER_INPUT = {
  jobId: "text",
  fence: "int",
  now: "timestamptz",
  events: "jsonb",
  ...ANSWER_COLUMNS,
} as const;

const ANSWER = `, written AS (
  UPDATE job SET last_event = last_event + jsonb_array_length(input.events),
    artifact_count = artifact_count + jsonb_array_length(input.artifacts)
  FROM input WHERE job.id = input."jobId" AND job.fence = input.fence AND job.status IN ('running', 'canceling')
  RETURNING job.id, job.project_id, job.last_event, job.artifact_count
)${WRITTEN}${STORE_ANSWER}`;
const answerAll = statementOver("answer", ANSWER_INPUT, `${ANSWER} SELECT id FROM moved`);
const answerAllWithFiles = statementOver(
  "answer-files",
  ANSWER_INPUT,
  `${ANSWER}${STORE_FILES} SELECT id FROM moved`,
);

/** Stores what the provider said, before anything else is done with it. False: the lease is lost, nothing was written. */
export const storeAnswer = batched<Answer, boolean>(
  async (items) => {
    const statement = haveFiles(items) ? answerAllWithFiles : answerAll;
    const { rows } = await pool.query<{ id: string }>(statement(items.map(toAnswerInput)));
    const stored = new Set(rows.map((row) => row.id));
    tell(stored);
    return items.map((item) => stored.has(item.jobId));
  },
  { apart },
);

export type LedgerPosting = { account: string; amount_micros: Micros; kind: string };

/** The end of an execution: status, receipt, hold, ledger and events, at once. */
export type Finish = StoredAnswer & {
  jobId: string;
  /** Null: no lease is needed (queued, expired or canceled work). */
  fence: number | null;
  /** The last event the decision knows of: with a later one it is not written. Null: the fence is enough. */
  seen_event: number | null;
  from: JobStatus[];
  to: "succeeded" | "failed" | "canceled";
  now: Date;
  error_code: string | null;
  error: Json;
  actual_micros: Micros | null;
  completed_variants: number;
  failed_variants: number;
  receipt: { id: string; body: string; hash: string; signature: string; keyId: string };
  hold: { state: "settled" | "released" | "ambiguous"; settled_micros: Micros | null };
  transaction_id: string;
  postings: LedgerPosting[];
  is_test: boolean;
  events: NewEvent[];
};

const FINISH_INPUT = {
  jobId: "text",
  fence: "int",
  seen_event: "int",
  from: "text[]",
  to: "text",
  now: "timestamptz",
  error_code: "text",
  error: "jsonb",
  actual_micros: "bigint",
  completed_variants: "int",
  failed_variants: "int",
  receipt_id: "text",
  receipt_body: "text",
  receipt_hash: "text",
  receipt_signature: "text",
  receipt_key_id: "text",
  hold_state: "text",
  hold_settled_micros: "bigint",
  transaction_id: "text",
  postings: "jsonb",
  is_test: "boolean",
  events: "jsonb",
  ...ANSWER_COLUMNS,
} as const;

const toFinishInput = ({ receipt, hold, attempt, output, artifacts, ...own }: Finish) => ({
  ...own,
  receipt_id: receipt.id,
  receipt_body: receipt.body,
  receipt_hash: receipt.hash,
  receipt_signature: receipt.signature,
  receipt_key_id: receipt.keyId,
  hold_state: hold.state,
  hold_settled_micros: hold.settled_micros,
  ...toAnswerRow({ attempt, output, artifacts }),
});

const FINISH = `, written AS (
  UPDATE job SET status = input."to", completed_at = input.now, error_code = input.error_code, error = input.error,
    actual_micros = input.actual_micros, completed_variants = input.completed_variants,
    failed_variants = input.failed_variants, receipt_id = input.receipt_id, lease_owner = NULL, lease_until = NULL,
    dispatch_state = 'none', last_event = last_event + jsonb_array_length(input.events),
    -- Files of an end take the place of those that were kept to be worked on.
    artifact_count = coalesce(nullif(jsonb_array_length(input.artifacts), 0), artifact_count)
  FROM input
  WHERE job.id = input."jobId" AND (input.fence IS NULL OR job.fence = input.fence) AND job.status = ANY(input."from")
    AND (input.seen_event IS NULL OR job.last_event = input.seen_event)
  RETURNING job.id, job.project_id, job.organization_id, job.last_event, job.pricing_version, job.artifact_count
)${WRITTEN}${STORE_ANSWER}, sealed AS (
  INSERT INTO receipt (id, project_id, job_id, body, hash, signature, key_id, created_at)
  SELECT receipt_id, project_id, id, receipt_body, receipt_hash, receipt_signature, receipt_key_id, now FROM moved
), resolved AS (
  UPDATE hold SET state = moved.hold_state, settled_micros = moved.hold_settled_micros,
    resolved_at = CASE WHEN moved.hold_state <> 'ambiguous' THEN moved.now END
  FROM moved WHERE hold.execution_id = moved.id AND hold.state = 'open'
  RETURNING hold.*
), posted AS (
  INSERT INTO ledger_entry (transaction_id, organization_id, project_id, job_id, account, amount_micros, kind, pricing_version, is_test, created_at)
  SELECT moved.transaction_id, organization_id, project_id, moved.id, x.account, x.amount_micros, x.kind, pricing_version, is_test, now
  FROM moved, jsonb_to_recordset(postings) AS x(account text, amount_micros bigint, kind text)
)`;
/** What is no longer held leaves the budgets and the wallet. Last, so that every row of a job is locked before theirs. */
const MOVED = `SELECT id, ${resolved("resolved", "(SELECT now FROM moved LIMIT 1)")} FROM moved`;
const finishAll = statementOver("finish", FINISH_INPUT, `${FINISH} ${MOVED}`);
const finishAllWithFiles = statementOver(
  "finish-files",
  FINISH_INPUT,
  `${FINISH}${STORE_FILES}, replaced AS (
  DELETE FROM job_artifact USING moved WHERE job_artifact.job_id = moved.id AND jsonb_array_length(moved.artifacts) > 0
) ${MOVED}`,
);

/** Ends an execution exactly once. False: another end came first, or the lease is lost; nothing was written then. */
export const finish = batched<Finish, boolean>(
  async (items) => {
    for (const item of items) {
      if (!item.from.every((status) => MOVES[status].includes(item.to)))
        throw new Error(`No move from ${item.from} to ${item.to}`);
    }
    const statement = haveFiles(items) ? finishAllWithFiles : finishAll;
    const { rows } = await pool.query<{ id: string }>(statement(items.map(toFinishInput)));
    const moved = new Set(rows.map((row) => row.id));
    tell(moved);
    return items.map((item) => moved.has(item.jobId));
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

/**
 * Keeps what was made here of a stage's files, in the place of those that were kept to be worked on. False: the lease is
 * lost, or something happened to the job since it was read (somebody else has kept them).
 */
export async function keepStageFiles(kept: {
  jobId: string;
  fence: number;
  seenEvent: number;
  attemptId: string;
  answer: Json;
  artifacts: StoredArtifact[];
  unprocessed: string;
  events: NewEvent[];
  now: Date;
}): Promise<boolean> {
  const { rowCount } = await pool.query(
    `WITH written AS (
       UPDATE job SET last_event = last_event + jsonb_array_length($5::jsonb),
         artifact_count = artifact_count + jsonb_array_length($6::jsonb)
           - (SELECT count(*)::int FROM job_artifact WHERE job_id = $1 AND slot_status = $9)
       WHERE id = $1 AND fence = $2 AND last_event = $3 AND status = 'running'
         AND EXISTS (SELECT FROM attempt WHERE attempt.id = $8 AND attempt.answer->>'unprocessed' = 'true')
       RETURNING id, project_id, last_event, artifact_count
     ), moved AS (
       SELECT written.*, $4::timestamptz AS now, $6::jsonb AS artifacts, $5::jsonb AS events FROM written
     ), answered AS (
       UPDATE attempt SET answer = $7::jsonb FROM moved WHERE attempt.id = $8 AND attempt.job_id = moved.id
     ), told AS (
       INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
       SELECT moved.project_id, moved.id, moved.last_event - jsonb_array_length(moved.events) + event.position,
         event.value->>'type', event.value->'payload', moved.now
       FROM moved, jsonb_array_elements(moved.events) WITH ORDINALITY AS event(value, position)
     )${STORE_FILES}, replaced AS (
       DELETE FROM job_artifact USING moved WHERE job_artifact.job_id = moved.id AND slot_status = $9
     ) SELECT id FROM moved`,
    [
      kept.jobId,
      kept.fence,
      kept.seenEvent,
      kept.now,
      JSON.stringify(kept.events),
      JSON.stringify(kept.artifacts),
      JSON.stringify(kept.answer),
      kept.attemptId,
      kept.unprocessed,
    ],
  );
  tell([kept.jobId]);
  return rowCount === 1;
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
       -- How far a blind job is would tell by whom: only some vendors say it.
       SELECT id, $6::jsonb IS NOT NULL AND NOT is_blind AND $6 IS DISTINCT FROM progress - 'updatedAt' AS has_news FROM job
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
