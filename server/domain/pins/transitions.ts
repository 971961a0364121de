import {
  openPinnedHolds,
  type Posting,
  refuseReservation,
  reservationOfPin,
  reserving,
  resolved,
} from "@/server/domain/budgets";
import { type KeptContent, sealContent } from "@/server/domain/content";
import { type ExecutionMoney, goodFrom, LEASE_MS } from "@/server/domain/executions";
import { ADMISSION_LIMITS, type AdmissionLimits, refuseWork, TAKEN } from "@/server/domain/plans";
import type { Sealed } from "@/server/domain/receipts";
import { pinnedAttempt, pinnedExecution, pinnedExecutionLater, pinnedHold } from "@/server/generated/schema";
import { batched, listedTogether, writtenTogether } from "@/server/platform/batch";
import { keepConnection, pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import {
  beside,
  bool,
  column,
  int4,
  joinColumns,
  jsonb,
  maybe,
  names,
  type Of,
  omit,
  pick,
  text,
  texts,
  timestamptz,
  toBeside,
  withoutLater,
} from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { batch, statement } from "@/server/sql/statement";
import type { PinnedAttemptRow } from "./rows";

/** Two changes of one execution never share a statement, so each caller learns the outcome of its own. */
export const ofItem = (item: { pinnedId: string }) => item.pinnedId;

const CONTENT = {
  id: text,
  content: text,
  is_sealed: bool,
  sha256: text,
  byte_length: int4,
  expires_at: maybe(timestamptz),
};
const asStored = (kept: KeptContent | null) =>
  kept && { ...kept, content: kept.is_sealed ? sealContent(kept.content, kept.id) : kept.content };
const besideRequest = toBeside("request_", CONTENT);
const besideOutput = toBeside("output_", CONTENT);
const besideNative = toBeside("native_", CONTENT);
const storeContent = (kind: "request" | "output" | "native", from: string, at: string) => `
  INSERT INTO payload (id, project_id, pinned_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT ${kind}_id, project_id, id, '${kind}', ${kind}_content, ${kind}_is_sealed, ${kind}_sha256, ${kind}_byte_length, ${at},
    ${kind}_expires_at
  FROM ${from} WHERE ${kind}_id IS NOT NULL`;

/**
 * The columns of a new execution's row, without those that its end writes and without its lease, which begins
 * in the statement.
 */
const ROW = omit(withoutLater(pinnedExecution, pinnedExecutionLater), "lease_until");
const MONEY = {
  /** Null if it is free. */
  hold_id: maybe(text),
  /** The customer's own account that it runs on; empty for the sandbox. */
  credential_ids: texts,
  /** The enforcement of stored budgets that the call requests; it can only make them stricter. */
  budget_enforcement: column<"off" | "warn" | "prevent" | null>("text", true),
};
const ADMISSION = { ...ROW, ...MONEY, ...ADMISSION_LIMITS, ...beside("request_", CONTENT) };

/**
 * All data that the admission of an execution writes in one statement: row, key, hold, and its request if
 * kept.
 */
export type PinnedAdmission = Of<typeof ROW> &
  Of<typeof MONEY> &
  AdmissionLimits & {
    /** Null if it is not kept. */
    request: KeptContent | null;
  };

const admitAll = batch("pin-admit", {
  input: ADMISSION,
  row: { id: text, warnings: column<Record<string, Json>[] | null>("jsonb", true) },
  sql: `WITH input AS $input, admitted AS (
  INSERT INTO pinned_execution (${names(ROW)}, lease_until)
  SELECT ${names(ROW)}, CASE WHEN lease_owner IS NOT NULL THEN ${leaseFor(LEASE_MS)} END FROM input
  ON CONFLICT (project_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id
), mine AS $perInput (
  SELECT input.* FROM input JOIN admitted USING (id)
), asked AS (${storeContent("request", "mine", "created_at")}
), ${TAKEN}, reserved AS MATERIALIZED (
  ${reserving(reservationOfPin({ enforcement: "budget_enforcement" }), "mine, taken WHERE hold_id IS NOT NULL")}
), held AS (
  ${openPinnedHolds("mine", { id: "hold_id" })}
)
SELECT id, reserved.warnings FROM mine CROSS JOIN taken LEFT JOIN reserved ON reserved.execution_id = id`,
});

/**
 * The results of the statement. The warnings come from stored budgets that only warn; the row has them too.
 */
type Admitted = {
  budgetWarnings: Record<string, Json>[];
  /** The moment until which its lease certainly lasts, on this process's monotonic clock. */
  goodUntil: number;
};

const byKey = (one: PinnedAdmission, other: PinnedAdmission) =>
  one.project_id + one.idempotency_key < other.project_id + other.idempotency_key ? -1 : 1;

/**
 * Admits an execution and reserves its money. Null if its key was taken; then nothing was written. Concurrent
 * calls share statements. Throws BudgetExceeded if a budget has no room.
 */
export const insertPinned = batched<PinnedAdmission, Admitted | null>(async (items) => {
  // Every statement inserts keys in the same order, because equal keys wait for each other.
  const inputs = items
    .toSorted(byKey)
    .map(({ request, ...row }) => joinColumns(row, besideRequest(asStored(request))));
  const goodUntil = goodFrom(performance.now());
  const rows = await keepConnection((db) => admitAll.all(db, inputs))
    .catch(refuseWork)
    .catch(refuseReservation);
  const admitted = new Map(
    rows.map(({ id, warnings }) => [id, { budgetWarnings: warnings ?? [], goodUntil }]),
  );
  return items.map((item) => admitted.get(item.id) ?? null);
});

const KEY = { projectId: text, spellings: texts };
const OF_KEY = {
  place: int4,
  id: text,
  hash: pinnedExecution.identity_hash,
  spelling: text,
  environment: text,
};

const findHolders = batch("pins-of-key", {
  input: { place: int4, ...KEY },
  row: OF_KEY,
  sql: `WITH input AS $input SELECT input.place, id, identity_hash AS hash, coalesce(idempotency_key, '') AS spelling, environment
    FROM input JOIN pinned_execution ON project_id = input."projectId" AND idempotency_key = ANY(input.spellings)`,
});

/** The executions under any spelling of a key. Concurrent calls share statements. */
export const pinsOfKey = listedTogether<Of<typeof KEY>, Of<typeof OF_KEY>>((keys) =>
  findHolders.all(pool, keys),
);

const BEGIN = {
  pinnedId: text,
  fence: int4,
  attemptId: text,
  number: int4,
  sentHash: text,
  now: timestamptz,
};
const beginAll = batch("pin-begin", {
  input: BEGIN,
  row: { id: text },
  sql: `WITH input AS $input, mine AS MATERIALIZED (
  -- The lock keeps off a worker that takes the execution over meanwhile: it sees this attempt, or this finds their fence.
  SELECT pinned.id, pinned.project_id, input."attemptId", input.number, input.fence, input."sentHash", input.now
  FROM input JOIN pinned_execution pinned ON pinned.id = input."pinnedId"
  WHERE pinned.fence = input.fence AND pinned.status = 'running' ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
)
INSERT INTO pinned_attempt (id, project_id, pinned_id, number, fence, submission, sent_hash, started_at)
SELECT "attemptId", project_id, id, number, fence, 'ambiguous', "sentHash", now FROM mine
ON CONFLICT (pinned_id, number) DO UPDATE SET fence = excluded.fence
  WHERE pinned_attempt.id = excluded.id AND pinned_attempt.ended_at IS NULL RETURNING pinned_id AS id`,
});

/**
 * Stores an attempt before its request can leave; the attempt stays ambiguous until its end is known. False
 * if the execution is not, or no longer, ours to submit.
 */
export const beginAttempt = writtenTogether<Of<typeof BEGIN>>(ofItem, (items) => beginAll.all(pool, items));

const ENDED = pick(pinnedAttempt, "id", "submission", "http_status", "error_code", "started_at", "ended_at");
const besideAttempt = toBeside("attempt_", ENDED);
type EndAttempt = { pinnedId: string; fence: number; attempt: PinnedAttemptRow };

const endAll = batch("pin-end-attempt", {
  input: { pinnedId: text, fence: int4, ...beside("attempt_", ENDED) },
  row: { id: text },
  sql: `WITH input AS $input, mine AS MATERIALIZED (
  SELECT pinned.id, input.* FROM input JOIN pinned_execution pinned ON pinned.id = input."pinnedId"
  WHERE pinned.fence = input.fence AND pinned.status = 'running' ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
)
UPDATE pinned_attempt SET submission = attempt_submission, http_status = attempt_http_status,
  error_code = attempt_error_code, started_at = coalesce(attempt_started_at, started_at), ended_at = attempt_ended_at
FROM mine WHERE pinned_attempt.id = attempt_id AND pinned_attempt.ended_at IS NULL RETURNING pinned_id AS id`,
});

/** Ends a submission that another may follow. False if the lease was lost; then nothing was written. */
export const endAttempt = writtenTogether<EndAttempt>(ofItem, (items) =>
  endAll.all(
    pool,
    items.map(({ attempt, ...own }) => joinColumns(own, besideAttempt(attempt))),
  ),
);

const END = {
  pinnedId: text,
  fence: int4,
  to: column<"succeeded" | "failed" | "ambiguous">("text"),
  now: timestamptz,
  ...pick(pinnedExecution, "error_code", "error", "actual_micros", "usage"),
  safely_retryable: bool,
  /** Nothing was sent for a reason of ours: the same request with the same key runs anew. */
  frees_key: bool,
  receipt_id: text,
  transaction_id: text,
  pricing_version: text,
  postings: jsonb<Posting[]>(),
};
const RECORD = { body: text, hash: text, signature: text, keyId: text };
const HOLD = { state: column<ExecutionMoney["hold"]>("text"), settled_micros: pinnedHold.settled_micros };

/** The end of an execution, written at once: status, last attempt, record, content, hold and ledger. */
export type PinFinish = Of<typeof END> & {
  /** The last submission if it is still open, else null. */
  attempt: PinnedAttemptRow | null;
  record: Sealed;
  output: KeptContent | null;
  native: KeptContent | null;
  hold: Of<typeof HOLD>;
};

const finishAll = batch("pin-finish", {
  input: {
    ...END,
    ...beside("attempt_", ENDED),
    ...beside("record_", RECORD),
    ...beside("hold_", HOLD),
    ...beside("output_", CONTENT),
    ...beside("native_", CONTENT),
  },
  row: { id: text, capstan_resolve: column<unknown>("void", true) },
  sql: `WITH input AS $input, written AS (
  UPDATE pinned_execution SET status = input."to", completed_at = input.now, error_code = input.error_code,
    error = input.error, safely_retryable = input.safely_retryable, actual_micros = input.actual_micros,
    usage = input.usage, receipt_id = input.receipt_id,
    lease_owner = NULL, lease_until = NULL, released_key = CASE WHEN input.frees_key THEN idempotency_key END,
    idempotency_key = CASE WHEN NOT input.frees_key THEN idempotency_key END
  FROM input
  WHERE pinned_execution.id = input."pinnedId" AND pinned_execution.fence = input.fence AND status = 'running'
  RETURNING pinned_execution.id, project_id, organization_id, is_test
), moved AS $perInput (
  SELECT written.*, input.* FROM written JOIN input ON input."pinnedId" = written.id
), tried AS (
  -- One that was begun where the answer of the database was lost ends here, too: nothing was sent after it.
  UPDATE pinned_attempt SET submission = coalesce(attempt_submission, 'not_attempted'), http_status = attempt_http_status,
    error_code = attempt_error_code, started_at = coalesce(attempt_started_at, started_at),
    ended_at = coalesce(attempt_ended_at, now)
  FROM moved WHERE pinned_attempt.pinned_id = moved.id AND pinned_attempt.ended_at IS NULL
), added AS (${storeContent("output", "moved", "now")}
), kept AS (${storeContent("native", "moved", "now")}
), sealed AS (
  INSERT INTO pinned_record (id, project_id, pinned_id, body, hash, signature, key_id, created_at)
  SELECT receipt_id, project_id, id, record_body, record_hash, record_signature, "record_keyId", now FROM moved
), freed AS (
  UPDATE pinned_hold SET state = moved.hold_state, settled_micros = moved.hold_settled_micros,
    resolved_at = CASE WHEN moved.hold_state <> 'ambiguous' THEN moved.now END
  FROM moved WHERE pinned_hold.execution_id = moved.id AND pinned_hold.state = 'open'
  RETURNING pinned_hold.*
), posted AS (
  INSERT INTO ledger_transaction (transaction_id, organization_id, project_id, job_id, hold_id, account, postings,
    pricing_version, is_test, created_at)
  SELECT moved.transaction_id, organization_id, project_id, moved.id,
    (SELECT freed.id FROM freed WHERE freed.execution_id = moved.id), postings->0->>'account', postings,
    moved.pricing_version, is_test, now
  FROM moved WHERE jsonb_array_length(postings) > 0
)
SELECT id, ${resolved("freed", "(SELECT now FROM moved LIMIT 1)")} FROM moved`,
});

const besideRecord = toBeside("record_", RECORD);
const besideHold = toBeside("hold_", HOLD);
const toFinishInput = ({ attempt, record, hold, output, native, ...own }: PinFinish) =>
  joinColumns(
    own,
    besideAttempt(attempt),
    besideRecord(record),
    besideHold(hold),
    besideOutput(asStored(output)),
    besideNative(asStored(native)),
  );

/**
 * Ends an execution exactly once. False if another end came first or the lease was lost; then nothing was
 * written.
 */
export const finishPin = writtenTogether<PinFinish>(ofItem, (items) =>
  finishAll.all(pool, items.map(toFinishInput)),
);

const requeueItems = statement("pinned_execution.requeue.items", {
  params: { ids: texts, fences: column<number[]>("int4[]") },
  row: { id: text },
  sql: `WITH mine AS MATERIALIZED (
       SELECT pinned.id FROM pinned_execution pinned JOIN unnest($ids::text[], $fences::int[]) AS asked(id, fence)
         ON pinned.id = asked.id AND pinned.fence = asked.fence
       WHERE status = 'running' AND bulk_id IS NOT NULL ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
     )
     UPDATE pinned_execution SET status = 'queued', lease_owner = NULL, lease_until = NULL FROM mine
     WHERE pinned_execution.id = mine.id
       AND NOT EXISTS (SELECT FROM pinned_attempt open WHERE open.pinned_id = mine.id AND open.ended_at IS NULL)
     RETURNING pinned_execution.id`,
});

/**
 * Puts claimed items of bulks back into the queue, except items with an open submission. Returns their ids.
 */
export async function requeuePins(claimed: { id: string; fence: number }[]): Promise<string[]> {
  if (claimed.length === 0) return [];
  const rows = await requeueItems.all(pool, {
    ids: claimed.map(({ id }) => id),
    fences: claimed.map(({ fence }) => fence),
  });
  return rows.map(({ id }) => id);
}
