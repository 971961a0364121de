import type pg from "pg";
import { batched } from "@/server/batch";
import { sealContent } from "@/server/content";
import { pool, queryKeeping } from "@/server/db";
import {
  ALLOWANCE_MICROS,
  type Funding,
  refuseReservation,
  TRIAL_CEILING_MICROS,
} from "@/server/domain/budgets";
import { type Bounds, refuseWork, TAKEN } from "@/server/domain/plans";
import { failpoint } from "@/server/failpoint";
import type { Micros } from "@/server/money";
import { OF_INPUT, statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import { LARGE, turn } from "@/server/turn";
import { wakeAdmitted } from "../dispatch";
import { REPEAT_COLUMNS, type RepeatColumns } from "../repeats";
import type { NewEvent } from "./moves";

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
  reference_hash: string | null;
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
} & Bounds &
  RepeatColumns;

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
  reference_hash: "text",
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
  ...REPEAT_COLUMNS,
} as const;

const admitting = (name: string, counts: boolean) =>
  statementOver<Ready>(
    name,
    ADMISSION,
    `, earlier AS MATERIALIZED (
  SELECT id, CASE WHEN repeat_hash IS NOT NULL THEN capstan_join(repeat_hash, id, waiter_process, waiter_retries, awaits_end,
    created_at, stalled_at, guard_ms) END AS joined
  FROM input
), admitted AS (
  INSERT INTO job (id, project_id, organization_id, environment, product_id, principal_id, principal_kind, operation,
    mode, capability_key, status, idempotency_key, request_hash, external_ref, tags, metadata, correlation_id, task_kind,
    data_classification, retention_requirement, billing_mode, provider, model, quote_id, pricing_version, pricing,
    estimated_micros, maximum_micros, queue_seconds, queue_deadline_at, execution_seconds, created_at, started_at, fence,
    lease_owner, lease_until, dispatch_state, dispatch_after, last_event, requested_variants, warnings, approval,
    approval_deadline_at, submitted_by, retry_of, maturity, reference_hash, webhook_event, repeat_hash, waiter, waiter_process,
    waiter_state, waiter_retries)
  SELECT id, project_id, organization_id, environment, product_id, principal_id, principal_kind, operation,
    mode, capability_key, status, idempotency_key, request_hash, external_ref, tags, metadata, correlation_id, task_kind,
    data_classification, retention_requirement, billing_mode, provider, model, quote_id, pricing_version, pricing,
    estimated_micros, maximum_micros, queue_seconds, queue_deadline_at, execution_seconds, created_at, started_at, fence,
    lease_owner, lease_until, dispatch_state, dispatch_after, last_event, requested_variants, warnings, approval,
    approval_deadline_at, submitted_by, retry_of, maturity, reference_hash,
    CASE WHEN EXISTS (SELECT FROM delivery_endpoint endpoint WHERE endpoint.organization_id = input.organization_id) THEN 0 END,
    CASE WHEN awaits_end THEN repeat_hash END, CASE WHEN repeat_hash IS NOT NULL THEN id END, waiter_process,
    CASE WHEN repeat_hash IS NOT NULL THEN 'waiting' END, waiter_retries
  FROM input JOIN earlier USING (id) WHERE joined IS NULL
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
SELECT id, funding, reserved.warnings, NULL AS joined
FROM mine CROSS JOIN taken LEFT JOIN reserved USING (hold_id)${counts ? " CROSS JOIN counted" : ""}
UNION ALL SELECT id, NULL, NULL, joined FROM earlier WHERE joined IS NOT NULL`,
  );

/** Of keys and people, who have no cap of jobs. */
const admitAll = admitting("admit", false);
/** With panel sessions among them, whose jobs are counted when all else is locked. */
const admitCounting = admitting("admit-panel", true);

/** One as it is sent: the request is text, or the bytes of it. */
type Ready = Omit<Admission, "payload_content"> & { payload_content: string | Buffer | null };

/** The statement for these, in one order everywhere, as keys of one name wait for each other. */
function admission(items: Ready[]) {
  const statement = items.some((item) => item.principal_kind === "panel_session") ? admitCounting : admitAll;
  return statement(items.map(sealed).toSorted(byKey));
}

const byKey = (one: Ready, other: Ready) =>
  one.project_id + one.idempotency_key < other.project_id + other.idempotency_key ? -1 : 1;

/** With the request encrypted, where it must not be stored in the clear. One of bytes is as it will be stored. */
function sealed(item: Ready): Ready {
  if (!item.payload_is_sealed || typeof item.payload_content !== "string") return item;
  return { ...item, payload_content: sealContent(item.payload_content, item.payload_id) };
}

/** With a large request as the bytes to store: pg would make them, and send them, without a turn for others between. */
async function encoded(item: Ready): Promise<Ready> {
  const { payload_content: content } = sealed(item);
  await turn();
  const payload_content = typeof content === "string" ? Buffer.from(content) : content;
  await turn();
  return { ...item, payload_content };
}

export type Admitted = {
  funding: Funding;
  /** Of stored budgets that only warn: on the job's row and among its events already. */
  budgetWarnings: Record<string, Json>[];
};

/** It repeats a request without an idempotency key, and now waits for that one's execution. */
export type Joined = { joined: string };

/**
 * Admits, sets the money aside and wakes the engine, which is told before the answer is made; null where the key was
 * already taken. Nothing was written then, nor for a repeat that joins an earlier request. Concurrent calls share statements.
 * Throws BudgetExceeded or funding_required where there is no room, and has written nothing then either.
 */
export async function insertAdmitted(item: Admission): Promise<Admitted | Joined | null> {
  if ((item.payload_content?.length ?? 0) <= LARGE) return insertBatched(item);
  const [found = null] = await insertAll([await encoded(item)]);
  return found;
}

const insertBatched = batched<Admission, Admitted | Joined | null>(insertAll);

async function insertAll(items: Ready[]): Promise<(Admitted | Joined | null)[]> {
  const { rows } = await queryKeeping<{
    id: string;
    funding: Funding;
    warnings: Record<string, Json>[] | null;
    joined: string | null;
  }>(admission(items))
    .catch(refuseWork)
    .catch(refuseReservation);
  const found = new Map<string, Admitted | Joined>(
    rows.map(({ id, funding, warnings, joined }) => [
      id,
      joined === null ? { funding, budgetWarnings: warnings ?? [] } : { joined },
    ]),
  );
  const admitted = items.filter(({ id }) => {
    const what = found.get(id);
    return what && !("joined" in what);
  });
  if (admitted.length > 0) failpoint("after-admission");
  await wakeAdmitted(admitted);
  return items.map((item) => found.get(item.id) ?? null);
}

/**
 * Admits several as the blind competitors of one comparison, inside a transaction: all of them or, by throwing what
 * `insertAdmitted` throws, none.
 */
export async function insertTogether(
  client: pg.PoolClient,
  comparisonId: string,
  items: Admission[],
): Promise<void> {
  const { rows } = await client
    .query<{ id: string }>(admission(items))
    .catch(refuseWork)
    .catch(refuseReservation);
  if (rows.length !== items.length) throw new Error("the idempotency key of a competitor is taken");
  await client.query({
    name: "make-blind",
    text: "UPDATE job SET comparison_id = $1, is_blind = true WHERE id = ANY($2)",
    values: [comparisonId, items.map(({ id }) => id)],
  });
}

type Key = { projectId: string; operation: "jobs" | "invoke"; key: string };

type First = { id: string; request_hash: string; reference_hash: string | null };

const findFirst = statementOver<Key & { place: number }>(
  "first-of-key",
  { place: "int", projectId: "text", operation: "text", key: "text" },
  `
SELECT input.place, job.id, CASE WHEN job.comparison_id IS NULL THEN job.request_hash ELSE '' END AS request_hash,
  CASE WHEN job.comparison_id IS NULL THEN job.reference_hash END AS reference_hash
FROM input JOIN job
  ON job.project_id = input."projectId" AND job.operation = input.operation AND job.idempotency_key = input.key`,
);

/**
 * The job a key stands for; null when it is free. Concurrent calls share statements. A competitor's key belongs to its
 * comparison and has the hash of no request: by replaying it one could find out which of them it is.
 */
export const firstOfKey = batched<Key, First | null>(async (keys) => {
  const { rows } = await pool.query<First & { place: number }>(
    findFirst(keys.map((key, place) => ({ ...key, place }))),
  );
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, place) => found.get(place) ?? null);
});
