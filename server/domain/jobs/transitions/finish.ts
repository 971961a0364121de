import type { JobStatus } from "@/server/contract/jobs";
import { AUDIT, audited } from "@/server/domain/audit";
import { type Posting, RESOLUTION_COLUMNS, resolved } from "@/server/domain/budgets";

import { tell } from "@/server/domain/jobs/following/notify";
import { job } from "@/server/generated/schema";
import { writtenTogether } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import {
  beside,
  bool,
  column,
  int4,
  joinColumns,
  jsonb,
  maybe,
  type Of,
  text,
  timestamptz,
  toBeside,
} from "@/server/sql/column";
import { isAbandoned } from "@/server/sql/leases";
import { batch } from "@/server/sql/statement";
import {
  ANSWER_COLUMNS,
  haveFiles,
  STORE_ANSWER,
  STORE_FILES,
  type StoredAnswer,
  toAnswerRow,
  WRITTEN,
} from "./answer";
import { checkMove, type NewEvent, ofJob } from "./moves";

const OF_FINISH = {
  jobId: text,
  fence: int4,
  /**
   * The last event that the decision is based on; a later event prevents the write. Null if the fence is
   * enough.
   */
  seen_event: maybe(int4),
  from: column<JobStatus[]>("text[]"),
  to: column<"succeeded" | "failed" | "canceled">("text"),
  now: timestamptz,
  error_code: job.error_code,
  error: column<Json>("jsonb", true),
  /** Warnings that are added to the job's. */
  warnings: jsonb<Record<string, Json>[]>(),
  actual_micros: job.actual_micros,
  completed_variants: job.completed_variants,
  failed_variants: job.failed_variants,
  transaction_id: text,
  postings: jsonb<Posting[]>(),
  /** If true, a repeat without a key is answered with this end. */
  is_uncertain: bool,
  events: jsonb<NewEvent[]>(),
  /** Audit entries of the decision of an operator or approver that ends the job. */
  audit: AUDIT,
  /** Nothing was sent and the cause was ours, so the same request with the same key may run anew. */
  frees_key: bool,
  /** Writes only if the lease was abandoned, and only until this time. Null if no lease has to have ended. */
  reap_until: maybe(timestamptz),
};
const RECEIPT = { id: text, body: text, hash: text, signature: text, keyId: text };
const HOLD = {
  state: column<"settled" | "released" | "ambiguous">("text"),
  settled_micros: job.hold_settled_micros,
};

/** The end of an execution: status, receipt, hold, ledger and events are written at once. */
export type JobFinish = StoredAnswer &
  Of<typeof OF_FINISH> & { receipt: Of<typeof RECEIPT>; hold: Of<typeof HOLD> };

const besideReceipt = toBeside("receipt_", RECEIPT);
const besideHold = toBeside("hold_", HOLD);
const toFinishInput = ({ receipt, hold, ...own }: JobFinish) =>
  joinColumns(toAnswerRow(own), besideReceipt(receipt), besideHold(hold));

/**
 * SQL: replaces the key of a job whose key is free again. The text is longer than a caller's key can be, and
 * unique to the job.
 */
export const FREED_KEY = "rpad(job.id, 256, '/')";

const finished = (more = "") => `WITH input AS $input, written AS (
  UPDATE job SET status = input."to", completed_at = input.now, error_code = input.error_code, error = input.error,
    actual_micros = input.actual_micros, completed_variants = input.completed_variants,
    failed_variants = input.failed_variants, receipt_id = input.receipt_id, lease_owner = NULL, lease_until = NULL,
    repeat_hash = CASE WHEN input.is_uncertain OR (input."to" = 'succeeded' AND waiter_state <> 'waiting') THEN repeat_hash END,
    hold_state = CASE WHEN job.hold_state IS NOT NULL THEN input.hold_state END,
    hold_settled_micros = CASE WHEN job.hold_state IS NOT NULL THEN input.hold_settled_micros END,
    hold_resolved_at = CASE WHEN job.hold_state IS NOT NULL AND input.hold_state <> 'ambiguous' THEN input.now END,
    warnings = CASE WHEN jsonb_array_length(input.warnings) > 0 THEN job.warnings || input.warnings ELSE job.warnings END,
    dispatch_state = 'none', last_event = last_event + jsonb_array_length(input.events),
    -- Files of an end take the place of those that were kept to be worked on.
    artifact_count = coalesce(nullif(jsonb_array_length(input.artifacts), 0), artifact_count)${more}
  FROM input
  WHERE job.id = input."jobId" AND job.fence = input.fence AND job.status = ANY(input."from")
    AND (input.seen_event IS NULL OR job.last_event = input.seen_event)
    AND (input.reap_until IS NULL OR ${isAbandoned("job.lease_until", "input.reap_until")})
  RETURNING job.id, job.last_event, job.pricing_version, job.artifact_count, ${RESOLUTION_COLUMNS.job}
)${WRITTEN}${STORE_ANSWER}, sealed AS (
  INSERT INTO receipt (id, project_id, job_id, body, hash, signature, key_id, last_event, events, created_at)
  SELECT receipt_id, project_id, id, receipt_body, receipt_hash, receipt_signature, "receipt_keyId", last_event, events, now FROM moved
), posted AS (
  INSERT INTO ledger_transaction (transaction_id, organization_id, project_id, job_id, hold_id, account, postings, pricing_version, is_test, created_at)
  SELECT moved.transaction_id, organization_id, project_id, moved.id,
    CASE WHEN state IS NOT NULL THEN capstan_hold_id(id) END, postings->0->>'account', postings, pricing_version, is_test, now
  FROM moved WHERE jsonb_array_length(postings) > 0
)`;
/**
 * Takes what is no longer held out of the budgets and the wallet. This is last, so that every row of a job is
 * locked before theirs.
 */
const MOVED = `SELECT id, ${resolved("written WHERE state IS NOT NULL", "(SELECT now FROM moved LIMIT 1)")} FROM moved`;
const finishing = (name: string, files: string, more?: string) =>
  batch(name, {
    input: { ...OF_FINISH, ...beside("receipt_", RECEIPT), ...beside("hold_", HOLD), ...ANSWER_COLUMNS },
    row: { id: text, capstan_resolve: column<unknown>("void", true) },
    sql: `${finished(more)}${files} ${MOVED}`,
  });
const finishAll = finishing("finish", "");
const finishAllWithMore = finishing(
  "finish-more",
  `${STORE_FILES}, replaced AS (
  DELETE FROM job_artifact USING moved WHERE job_artifact.job_id = moved.id AND jsonb_array_length(moved.artifacts) > 0
), ${audited("moved.audit", "moved")}`,
  `, released_key = CASE WHEN input.frees_key THEN idempotency_key END,
    idempotency_key = CASE WHEN input.frees_key THEN ${FREED_KEY} ELSE idempotency_key END`,
);

/**
 * Ends an execution exactly once. False if another end came first or the lease is lost; nothing was written
 * then.
 */
export const finishJob = writtenTogether<JobFinish>(ofJob, async (items) => {
  for (const item of items) checkMove(item);
  const isMore = haveFiles(items) || items.some(({ audit, frees_key }) => audit || frees_key);
  const ending = isMore ? finishAllWithMore : finishAll;
  const rows = await ending.all(pool, items.map(toFinishInput));
  tell(rows.map(({ id }) => id));
  return rows;
});
