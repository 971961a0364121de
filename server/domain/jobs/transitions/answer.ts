import { batched } from "@/server/batch";
import type { FileFacts } from "@/server/capabilities/define";
import { sealContent } from "@/server/content";
import { pool } from "@/server/db";
import type { Micros } from "@/server/money";
import type { Usage } from "@/server/providers/define";
import { OF_INPUT, statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import { tell } from "../notify";
import type { StoredOutcome } from "../rows";
import { apart, type NewEvent } from "./moves";

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
    answer: StoredOutcome;
    usage: Usage | null;
    http_status: number | null;
    error_code: string | null;
    error_message: string | null;
    cost_micros: Micros | null;
    answered_at: Date | null;
    ended_at: Date | null;
  } | null;
  output: {
    /** native: what the provider answered to what failed. */
    kind: "output" | "native";
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
export const STORE_FILES = `
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
export const WRITTEN = `, moved AS ${OF_INPUT} (
  SELECT written.*, input.* FROM written JOIN input ON input."jobId" = written.id
)`;

export const haveFiles = (items: StoredAnswer[]) => items.some((item) => item.artifacts.length > 0);

/** Common part of the statements that store an answer; `moved` holds the rows they may write to. */
export const STORE_ANSWER = `
, answered AS (
  UPDATE attempt SET submission = moved.attempt_submission, provider_request_id = moved.attempt_provider_request_id,
    provider_model = moved.attempt_provider_model, answer = coalesce(moved.attempt_answer, attempt.answer),
    usage = moved.attempt_usage, http_status = moved.attempt_http_status, error_code = moved.attempt_error_code,
    error_message = moved.attempt_error_message, cost_micros = moved.attempt_cost_micros,
    answered_at = moved.attempt_answered_at, ended_at = moved.attempt_ended_at
  FROM moved WHERE attempt.id = moved.attempt_id
), wrote AS (
  INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT output_id, project_id, id, output_kind, output_content, output_is_sealed, output_sha256, output_byte_length, now, output_expires_at
  FROM moved WHERE output_id IS NOT NULL
), told AS (
  INSERT INTO job_event (project_id, job_id, id, type, payload, created_at)
  SELECT moved.project_id, moved.id, moved.last_event - jsonb_array_length(moved.events) + event.position,
    event.value->>'type', event.value->'payload', moved.now
  FROM moved, jsonb_array_elements(moved.events) WITH ORDINALITY AS event(value, position)
)`;

/** An answer's fields as columns of one row: what is no list needs no JSON inside the database. */
export const ANSWER_COLUMNS = {
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
  output_kind: "text",
  output_content: "text",
  output_is_sealed: "boolean",
  output_sha256: "text",
  output_byte_length: "int",
  output_expires_at: "timestamptz",
  artifacts: "jsonb",
} as const;

export const toAnswerRow = ({ attempt, output, artifacts }: StoredAnswer) => ({
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
  output_kind: output?.kind,
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
