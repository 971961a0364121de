import { batched } from "@/server/batch";
import { sealContent } from "@/server/content";
import { pool, type Queryable, queryKeeping } from "@/server/db";
import {
  ALLOWANCE_MICROS,
  type Posting,
  refuseReservation,
  resolved,
  TRIAL_CEILING_MICROS,
} from "@/server/domain/budgets";
import type { Books } from "@/server/domain/executions";
import { type Bounds, refuseWork, TAKEN } from "@/server/domain/plans";
import type { Sealed } from "@/server/domain/receipts";
import type { Micros } from "@/server/money";
import { OF_INPUT, statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import type { PinnedAttemptRow, PinnedRow } from "./rows";

/** Two moves of one execution never share a statement: each asker is told what became of its own. */
const apart = (item: { pinnedId: string }) => item.pinnedId;

/** Content that is kept for a while: in the clear here, encrypted on its way into a row where it must be. */
export type KeptContent = {
  id: string;
  content: string;
  isSealed: boolean;
  sha256: string;
  byteLength: number;
  expiresAt: Date | null;
};

const sealedText = ({ id, content, isSealed }: KeptContent) =>
  isSealed ? sealContent(content, id) : content;

/** Everything an admission writes of one execution, in one statement: row, key, hold, and its request where that is kept. */
export type PinnedAdmission = Pick<
  PinnedRow,
  | "id"
  | "project_id"
  | "organization_id"
  | "environment"
  | "principal_id"
  | "principal_kind"
  | "submitted_by"
  | "bulk_id"
  | "position"
  | "item_id"
  | "idempotency_key"
  | "identity_hash"
  | "status"
  | "provider"
  | "model"
  | "api"
  | "request_hash"
  | "input_hash"
  | "estimated_micros"
  | "maximum_micros"
  | "is_test"
  | "created_at"
  | "started_at"
  | "fence"
  | "lease_owner"
  | "lease_until"
> & {
  plan: Json;
  warnings: Json;
  /** Null: it costs nothing. */
  hold_id: string | null;
  /** The organization's own account it runs on; none: the sandbox. */
  credential_ids: string[];
  /** What the call itself asks of stored budgets; they are never weaker than they say themselves. */
  budget_enforcement: "off" | "warn" | "prevent" | null;
  /** Null: not kept. */
  request: KeptContent | null;
} & Bounds;

const admitAll = statementOver(
  "pin-admit",
  {
    id: "text",
    project_id: "text",
    organization_id: "text",
    environment: "text",
    principal_id: "text",
    principal_kind: "text",
    submitted_by: "text",
    bulk_id: "text",
    position: "int",
    item_id: "text",
    idempotency_key: "text",
    identity_hash: "text",
    status: "text",
    provider: "text",
    model: "text",
    api: "text",
    plan: "jsonb",
    request_hash: "text",
    input_hash: "text",
    estimated_micros: "bigint",
    maximum_micros: "bigint",
    is_test: "boolean",
    created_at: "timestamptz",
    started_at: "timestamptz",
    fence: "int",
    lease_owner: "text",
    lease_until: "timestamptz",
    warnings: "jsonb",
    hold_id: "text",
    credential_ids: "text[]",
    budget_enforcement: "text",
    request_id: "text",
    request_content: "text",
    request_is_sealed: "boolean",
    request_sha256: "text",
    request_bytes: "int",
    request_expires_at: "timestamptz",
    most_active: "int",
    most_inferences: "int",
  },
  `, admitted AS (
  INSERT INTO pinned_execution (id, project_id, organization_id, environment, principal_id, principal_kind, submitted_by,
    bulk_id, position, item_id, idempotency_key, identity_hash, status, provider, model, api, plan, request_hash, input_hash,
    estimated_micros, maximum_micros, is_test, created_at, started_at, fence, lease_owner, lease_until, warnings)
  SELECT id, project_id, organization_id, environment, principal_id, principal_kind, submitted_by,
    bulk_id, position, item_id, idempotency_key, identity_hash, status, provider, model, api, plan,
    request_hash, input_hash, estimated_micros, maximum_micros, is_test, created_at, started_at, fence, lease_owner,
    lease_until, warnings
  FROM input
  ON CONFLICT (project_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id
), mine AS ${OF_INPUT} (
  SELECT input.* FROM input JOIN admitted USING (id)
), asked AS (
  INSERT INTO payload (id, project_id, pinned_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT request_id, project_id, id, 'request', request_content, request_is_sealed, request_sha256, request_bytes, created_at,
    request_expires_at
  FROM mine WHERE request_id IS NOT NULL
), ${TAKEN}, reserved AS MATERIALIZED (
  SELECT * FROM capstan_reserve(ARRAY(
    SELECT ROW(hold_id, id, organization_id, project_id, principal_id, submitted_by, 'byok', credential_ids, is_test,
      maximum_micros, budget_enforcement, created_at)::reservation
    FROM mine, taken WHERE hold_id IS NOT NULL), ${ALLOWANCE_MICROS}, ${TRIAL_CEILING_MICROS})
), held AS (
  INSERT INTO hold (id, organization_id, project_id, execution_id, principal_id, person_id, billing_mode, credential_ids,
    is_test, funding, amount_micros, state, created_at)
  SELECT mine.hold_id, organization_id, project_id, id, principal_id, submitted_by, 'byok', credential_ids, is_test, reserved.funding,
    maximum_micros, 'open', created_at
  FROM mine JOIN reserved USING (hold_id)
)
SELECT id, reserved.warnings FROM mine CROSS JOIN taken LEFT JOIN reserved USING (hold_id)`,
);

const toAdmitInput = ({ request, ...row }: PinnedAdmission) => ({
  ...row,
  request_id: request?.id,
  request_content: request && sealedText(request),
  request_is_sealed: request?.isSealed,
  request_sha256: request?.sha256,
  request_bytes: request?.byteLength,
  request_expires_at: request?.expiresAt,
});

/** What the statement added: warnings of stored budgets that only warn. On the row already. */
export type Admitted = { budgetWarnings: Record<string, Json>[] };

/**
 * Admits these executions and sets their money aside, by one statement: all of them or none, but for those whose key was
 * taken, which are not in the answer. Throws BudgetExceeded where there is no room.
 */
export async function admitPinned(
  items: PinnedAdmission[],
  database: Queryable | null = null,
): Promise<Map<string, Admitted>> {
  type Row = { id: string; warnings: Record<string, Json>[] | null };
  const statement = admitAll(items.map(toAdmitInput));
  const asked = database ? database.query<Row>(statement) : queryKeeping<Row>(statement);
  const { rows } = await asked.catch(refuseWork).catch(refuseReservation);
  return new Map(rows.map(({ id, warnings }) => [id, { budgetWarnings: warnings ?? [] }]));
}

const byKey = (one: PinnedAdmission, other: PinnedAdmission) =>
  one.project_id + one.idempotency_key < other.project_id + other.idempotency_key ? -1 : 1;

/** Admits one; null: its key was taken, and nothing was written. Concurrent calls share statements. */
export const insertPinned = batched<PinnedAdmission, Admitted | null>(async (items) => {
  // One order everywhere, as keys of one name wait for each other.
  const admitted = await admitPinned(items.toSorted(byKey));
  return items.map((item) => admitted.get(item.id) ?? null);
});

type Key = { projectId: string; key: string };
export type OfKey = { id: string; identity_hash: string };

const findFirst = statementOver<Key & { place: number }>(
  "pin-of-key",
  { place: "int", projectId: "text", key: "text" },
  `
SELECT input.place, id, identity_hash FROM input JOIN pinned_execution
  ON project_id = input."projectId" AND idempotency_key = input.key`,
);

/** The execution a key stands for; null when it is free. Concurrent calls share statements. */
export const pinnedOfKey = batched<Key, OfKey | null>(async (keys) => {
  const { rows } = await pool.query<OfKey & { place: number }>(
    findFirst(keys.map((key, place) => ({ ...key, place }))),
  );
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, place) => found.get(place) ?? null);
});

export type Begin = {
  pinnedId: string;
  fence: number;
  attemptId: string;
  number: number;
  sentHash: string;
  now: Date;
};

const beginAll = statementOver<Begin>(
  "pin-begin",
  { pinnedId: "text", fence: "int", attemptId: "text", number: "int", sentHash: "text", now: "timestamptz" },
  `, mine AS MATERIALIZED (
  -- The lock keeps off whoever takes the execution over meanwhile: they see this attempt, or this finds their fence.
  SELECT pinned.id, pinned.project_id, input."attemptId", input.number, input.fence, input."sentHash", input.now
  FROM input JOIN pinned_execution pinned ON pinned.id = input."pinnedId"
  WHERE pinned.fence = input.fence AND pinned.status = 'running' ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
)
INSERT INTO pinned_attempt (id, project_id, pinned_id, number, fence, submission, sent_hash, started_at)
SELECT "attemptId", project_id, id, number, fence, 'ambiguous', "sentHash", now FROM mine
ON CONFLICT (pinned_id, number) DO NOTHING RETURNING id`,
);

/**
 * Writes down that a request may leave, before it does: an attempt that stays ambiguous until its end is known. False: the
 * execution is not ours to submit (any more).
 */
export const beginAttempt = batched<Begin, boolean>(
  async (items) => {
    const { rows } = await pool.query<{ id: string }>(beginAll(items));
    const begun = new Set(rows.map(({ id }) => id));
    return items.map(({ attemptId }) => begun.has(attemptId));
  },
  { apart },
);

type EndAttempt = { pinnedId: string; fence: number; attempt: PinnedAttemptRow };

const endAll = statementOver(
  "pin-end-attempt",
  {
    pinnedId: "text",
    fence: "int",
    attempt_id: "text",
    attempt_submission: "text",
    attempt_http_status: "int",
    attempt_error_code: "text",
    attempt_ended_at: "timestamptz",
  },
  `, mine AS MATERIALIZED (
  SELECT pinned.id, input.* FROM input JOIN pinned_execution pinned ON pinned.id = input."pinnedId"
  WHERE pinned.fence = input.fence AND pinned.status = 'running' ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
)
UPDATE pinned_attempt SET submission = attempt_submission, http_status = attempt_http_status,
  error_code = attempt_error_code, ended_at = attempt_ended_at
FROM mine WHERE pinned_attempt.id = attempt_id AND pinned_attempt.ended_at IS NULL RETURNING pinned_attempt.id`,
);

const toAttemptInput = (attempt: PinnedAttemptRow | null) => ({
  attempt_id: attempt?.id,
  attempt_submission: attempt?.submission,
  attempt_http_status: attempt?.http_status,
  attempt_error_code: attempt?.error_code,
  attempt_ended_at: attempt?.ended_at,
});

/** Ends a submission after which another may follow. False: the lease is lost, nothing was written. */
export const endAttempt = batched<EndAttempt, boolean>(
  async (items) => {
    const { rows } = await pool.query<{ id: string }>(
      endAll(items.map(({ pinnedId, fence, attempt }) => ({ pinnedId, fence, ...toAttemptInput(attempt) }))),
    );
    const ended = new Set(rows.map(({ id }) => id));
    return items.map(({ attempt }) => ended.has(attempt.id));
  },
  { apart },
);

/** The end of an execution: status, last attempt, record, content, hold and ledger, at once. */
export type Finish = {
  pinnedId: string;
  fence: number;
  to: "succeeded" | "failed" | "ambiguous";
  now: Date;
  /** The submission it ends with, where that is still open. */
  attempt: PinnedAttemptRow | null;
  error: { code: string; message: string } | null;
  safelyRetryable: boolean;
  actualMicros: Micros | null;
  /** What the provider counted; null: it did not say. */
  usage: Json;
  receiptId: string;
  record: Sealed;
  output: KeptContent | null;
  native: KeptContent | null;
  hold: Books["hold"];
  transactionId: string;
  pricingVersion: string;
  postings: Posting[];
};

const contentColumns = <P extends string>(prefix: P) =>
  ({
    [`${prefix}_id`]: "text",
    [`${prefix}_content`]: "text",
    [`${prefix}_is_sealed`]: "boolean",
    [`${prefix}_sha256`]: "text",
    [`${prefix}_bytes`]: "int",
    [`${prefix}_expires_at`]: "timestamptz",
  }) as const;

const toContentInput = (prefix: "output" | "native", kept: KeptContent | null) => ({
  [`${prefix}_id`]: kept?.id,
  [`${prefix}_content`]: kept && sealedText(kept),
  [`${prefix}_is_sealed`]: kept?.isSealed,
  [`${prefix}_sha256`]: kept?.sha256,
  [`${prefix}_bytes`]: kept?.byteLength,
  [`${prefix}_expires_at`]: kept?.expiresAt,
});

const storeContent = (kind: "output" | "native") => `
  INSERT INTO payload (id, project_id, pinned_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT ${kind}_id, project_id, id, '${kind}', ${kind}_content, ${kind}_is_sealed, ${kind}_sha256, ${kind}_bytes, now,
    ${kind}_expires_at
  FROM moved WHERE ${kind}_id IS NOT NULL`;

const finishAll = statementOver<Record<string, unknown>>(
  "pin-finish",
  {
    pinnedId: "text",
    fence: "int",
    to: "text",
    now: "timestamptz",
    attempt_id: "text",
    attempt_submission: "text",
    attempt_http_status: "int",
    attempt_error_code: "text",
    attempt_ended_at: "timestamptz",
    error_code: "text",
    error: "jsonb",
    safely_retryable: "boolean",
    actual_micros: "bigint",
    usage: "jsonb",
    receipt_id: "text",
    record_body: "text",
    record_hash: "text",
    record_signature: "text",
    record_key_id: "text",
    ...contentColumns("output"),
    ...contentColumns("native"),
    hold_state: "text",
    hold_settled_micros: "bigint",
    transaction_id: "text",
    pricing_version: "text",
    postings: "jsonb",
  },
  `, written AS (
  UPDATE pinned_execution SET status = input."to", completed_at = input.now, error_code = input.error_code,
    error = input.error, safely_retryable = input.safely_retryable, actual_micros = input.actual_micros,
    usage = input.usage, receipt_id = input.receipt_id,
    lease_owner = NULL, lease_until = NULL
  FROM input
  WHERE pinned_execution.id = input."pinnedId" AND pinned_execution.fence = input.fence AND status = 'running'
  RETURNING pinned_execution.id, project_id, organization_id, is_test
), moved AS ${OF_INPUT} (
  SELECT written.*, input.* FROM written JOIN input ON input."pinnedId" = written.id
), tried AS (
  UPDATE pinned_attempt SET submission = attempt_submission, http_status = attempt_http_status,
    error_code = attempt_error_code, ended_at = attempt_ended_at
  FROM moved WHERE pinned_attempt.id = attempt_id
), told AS (${storeContent("output")}
), kept AS (${storeContent("native")}
), sealed AS (
  INSERT INTO pinned_record (id, project_id, pinned_id, body, hash, signature, key_id, created_at)
  SELECT receipt_id, project_id, id, record_body, record_hash, record_signature, record_key_id, now FROM moved
), freed AS (
  UPDATE hold SET state = moved.hold_state, settled_micros = moved.hold_settled_micros,
    resolved_at = CASE WHEN moved.hold_state <> 'ambiguous' THEN moved.now END
  FROM moved WHERE hold.execution_id = moved.id AND hold.state = 'open'
  RETURNING hold.*
), posted AS (
  INSERT INTO ledger_transaction (transaction_id, organization_id, project_id, job_id, hold_id, account, postings,
    pricing_version, is_test, created_at)
  SELECT moved.transaction_id, organization_id, project_id, moved.id,
    (SELECT freed.id FROM freed WHERE freed.execution_id = moved.id), postings->0->>'account', postings,
    moved.pricing_version, is_test, now
  FROM moved WHERE jsonb_array_length(postings) > 0
)
SELECT id, ${resolved("freed", "(SELECT now FROM moved LIMIT 1)")} FROM moved`,
);

const toFinishInput = ({ attempt, error, record, output, native, hold, ...own }: Finish) => ({
  pinnedId: own.pinnedId,
  fence: own.fence,
  to: own.to,
  now: own.now,
  ...toAttemptInput(attempt),
  error_code: error?.code ?? null,
  error,
  safely_retryable: own.safelyRetryable,
  actual_micros: own.actualMicros,
  usage: own.usage,
  receipt_id: own.receiptId,
  record_body: record.body,
  record_hash: record.hash,
  record_signature: record.signature,
  record_key_id: record.keyId,
  ...toContentInput("output", output),
  ...toContentInput("native", native),
  hold_state: hold.state,
  hold_settled_micros: hold.settled_micros,
  transaction_id: own.transactionId,
  pricing_version: own.pricingVersion,
  postings: own.postings,
});

/** Ends an execution exactly once. False: another end came first, or the lease is lost; nothing was written then. */
export const finish = batched<Finish, boolean>(
  async (items) => {
    const { rows } = await pool.query<{ id: string }>(finishAll(items.map(toFinishInput)));
    const moved = new Set(rows.map(({ id }) => id));
    return items.map(({ pinnedId }) => moved.has(pinnedId));
  },
  { apart },
);

/** Items of bulks that were taken up and sent nothing whose answer is still to come go back to wait for a lane. */
export async function requeue(claimed: { id: string; fence: number }[]): Promise<string[]> {
  if (claimed.length === 0) return [];
  const { rows } = await pool.query<{ id: string }>(
    `WITH mine AS MATERIALIZED (
       SELECT pinned.id FROM pinned_execution pinned JOIN unnest($1::text[], $2::int[]) AS asked(id, fence)
         ON pinned.id = asked.id AND pinned.fence = asked.fence
       WHERE status = 'running' AND bulk_id IS NOT NULL ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
     )
     UPDATE pinned_execution SET status = 'queued', lease_owner = NULL, lease_until = NULL FROM mine
     WHERE pinned_execution.id = mine.id
       AND NOT EXISTS (SELECT FROM pinned_attempt open WHERE open.pinned_id = mine.id AND open.ended_at IS NULL)
     RETURNING pinned_execution.id`,
    [claimed.map(({ id }) => id), claimed.map(({ fence }) => fence)],
  );
  return rows.map(({ id }) => id);
}
