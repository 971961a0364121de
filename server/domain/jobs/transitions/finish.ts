import { batched } from "@/server/batch";
import type { JobStatus } from "@/server/contract/jobs";
import { pool } from "@/server/db";
import { type Posting, resolved } from "@/server/domain/budgets";
import type { Micros } from "@/server/money";
import { statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import { tell } from "../notify";
import {
  ANSWER_COLUMNS,
  haveFiles,
  STORE_ANSWER,
  STORE_FILES,
  type StoredAnswer,
  toAnswerRow,
  WRITTEN,
} from "./answer";
import { apart, MOVES, type NewEvent } from "./moves";

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
  postings: Posting[];
  is_test: boolean;
  /** Whoever repeats it without a key is answered with this end. */
  is_uncertain: boolean;
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
  is_uncertain: "boolean",
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
    repeat_hash = CASE WHEN input.is_uncertain OR (input."to" = 'succeeded' AND waiter_state <> 'waiting') THEN repeat_hash END,
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
  INSERT INTO ledger_entry (transaction_id, organization_id, project_id, job_id, hold_id, account, amount_micros, kind, pricing_version, is_test, created_at)
  SELECT moved.transaction_id, organization_id, project_id, moved.id,
    (SELECT id FROM resolved WHERE resolved.execution_id = moved.id), x.account, x.amount_micros, x.kind, pricing_version, is_test, now
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
