import type { FileFacts } from "@/server/capabilities/define";
import { sealContent } from "@/server/domain/content";
import { tell } from "@/server/domain/jobs/following/notify";
import { attempt, payload } from "@/server/generated/schema";
import { writtenTogether } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import type { Usage } from "@/server/providers/define";
import {
  beside,
  bool,
  column,
  type Given,
  int4,
  joinColumns,
  jsonb,
  type Of,
  pick,
  text,
  timestamptz,
  toBeside,
} from "@/server/sql/column";
import { batch, statement } from "@/server/sql/statement";
import type { StoredOutcome } from "../rows";
import { type NewEvent, ofJob } from "./moves";

export type AnswerArtifact = {
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

const ANSWERED = {
  ...pick(
    attempt,
    "id",
    "submission",
    "provider_request_id",
    "provider_model",
    "answer",
    "usage",
    "http_status",
    "error_code",
    "error_message",
    "cost_micros",
    /** The time at which the first byte of the request could leave; null keeps the stored time. */
    "submission_begun_at",
    "answered_at",
    "ended_at",
  ),
  answer: column<StoredOutcome>("jsonb"),
  usage: column<Usage | null>("jsonb", true),
};
const OUTPUT = {
  id: text,
  /** `native` is a provider's answer to a job that failed. */
  kind: column<"output" | "native">("text"),
  content: text,
  /** If true, `content` is plain text in the process and encrypted in its row. */
  is_sealed: bool,
  sha256: text,
  byte_length: int4,
  expires_at: payload.expires_at,
};

/**
 * A stored answer: the content is in a prunable payload row and the artifact store, figures and names are in
 * the attempt.
 */
export type StoredAnswer = {
  attempt: Of<typeof ANSWERED> | null;
  output: Of<typeof OUTPUT> | null;
  artifacts: AnswerArtifact[];
};

/**
 * SQL: stores the files of an answer. Statements whose items have no files leave this part out, because
 * opening two tables costs a tenth of their time.
 */
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

/** SQL: the jobs that were written, each with its input. */
export const WRITTEN = `, moved AS $perInput (
  SELECT written.*, input.* FROM written JOIN input ON input."jobId" = written.id
)`;

export const haveFiles = (items: StoredAnswer[]) => items.some((item) => item.artifacts.length > 0);

/** SQL that the statements which store an answer share; `moved` holds the jobs that they may write to. */
export const STORE_ANSWER = `
, answered AS (
  UPDATE attempt SET submission = moved.attempt_submission, provider_request_id = moved.attempt_provider_request_id,
    provider_model = moved.attempt_provider_model, answer = coalesce(moved.attempt_answer, attempt.answer),
    usage = moved.attempt_usage, http_status = moved.attempt_http_status, error_code = moved.attempt_error_code,
    error_message = moved.attempt_error_message, cost_micros = moved.attempt_cost_micros,
    submission_begun_at = coalesce(moved.attempt_submission_begun_at, attempt.submission_begun_at),
    answered_at = moved.attempt_answered_at, ended_at = moved.attempt_ended_at
  FROM moved WHERE attempt.id = moved.attempt_id
), wrote AS (
  INSERT INTO payload (id, project_id, job_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT output_id, project_id, id, output_kind, output_content, output_is_sealed, output_sha256, output_byte_length, now, output_expires_at
  FROM moved WHERE output_id IS NOT NULL
)`;

/** SQL: adds the events of a statement that does not end the job. */
const TELL = `, added AS (
  INSERT INTO event (project_id, job_id, id, type, payload, created_at)
  SELECT moved.project_id, moved.id, moved.last_event - jsonb_array_length(moved.events) + event.position,
    event.value->>'type', event.value->'payload', moved.now
  FROM moved, jsonb_array_elements(moved.events) WITH ORDINALITY AS event(value, position)
)`;

/** An answer's fields as columns of one row, so that only lists need JSON inside the database. */
export const ANSWER_COLUMNS = {
  ...beside("attempt_", ANSWERED),
  ...beside("output_", OUTPUT),
  artifacts: jsonb<AnswerArtifact[]>(),
};

const besideAttempt = toBeside("attempt_", ANSWERED);
const besideOutput = toBeside("output_", OUTPUT);

export const toAnswerRow = <More extends StoredAnswer>({ attempt, output, artifacts, ...own }: More) => {
  const stored = output?.is_sealed ? { ...output, content: sealContent(output.content, output.id) } : output;
  return joinColumns(own, besideAttempt(attempt), besideOutput(stored), { artifacts });
};

const OF_ANSWER = { jobId: text, fence: int4, now: timestamptz, events: jsonb<NewEvent[]>() };
type AnswerRow = StoredAnswer & Of<typeof OF_ANSWER>;

const answering = (name: string, files: string) =>
  batch(name, {
    input: { ...OF_ANSWER, ...ANSWER_COLUMNS },
    row: { id: text },
    sql: `WITH input AS $input, written AS (
  UPDATE job SET last_event = last_event + jsonb_array_length(input.events),
    artifact_count = artifact_count + jsonb_array_length(input.artifacts)
  FROM input WHERE job.id = input."jobId" AND job.fence = input.fence AND job.status IN ('running', 'canceling')
  RETURNING job.id, job.project_id, job.last_event, job.artifact_count
)${WRITTEN}${STORE_ANSWER}${TELL}${files} SELECT id FROM moved`,
  });
const answerAll = answering("answer", "");
const answerAllWithFiles = answering("answer-files", STORE_FILES);

/**
 * Stores a provider's answer before anything else is done with it. False if the lease is lost; nothing was
 * written then.
 */
export const storeAnswer = writtenTogether<AnswerRow>(ofJob, async (items) => {
  const storing = haveFiles(items) ? answerAllWithFiles : answerAll;
  const rows = await storing.all(pool, items.map(toAnswerRow));
  tell(rows.map(({ id }) => id));
  return rows;
});

const STAGE_FILES = {
  jobId: text,
  fence: int4,
  seenEvent: int4,
  attemptId: text,
  answer: column<Json>("jsonb"),
  artifacts: jsonb<AnswerArtifact[]>(),
  unprocessed: text,
  events: jsonb<NewEvent[]>(),
  now: timestamptz,
};
const keepFiles = statement("keep-stage-files", {
  params: STAGE_FILES,
  row: { id: text },
  sql: `WITH written AS (
  UPDATE job SET last_event = last_event + jsonb_array_length($events::jsonb),
    artifact_count = artifact_count + jsonb_array_length($artifacts::jsonb)
      - (SELECT count(*)::int FROM job_artifact WHERE job_id = $jobId AND slot_status = $unprocessed)
  WHERE id = $jobId AND fence = $fence AND last_event = $seenEvent AND status = 'running'
    AND EXISTS (SELECT FROM attempt WHERE attempt.id = $attemptId AND attempt.answer->>'unprocessed' = 'true')
  RETURNING id, project_id, last_event, artifact_count
), moved AS (
  SELECT written.*, $now::timestamptz AS now, $artifacts::jsonb AS artifacts, $events::jsonb AS events FROM written
), answered AS (
  UPDATE attempt SET answer = $answer::jsonb FROM moved WHERE attempt.id = $attemptId AND attempt.job_id = moved.id
)${TELL}${STORE_FILES}, replaced AS (
  DELETE FROM job_artifact USING moved WHERE job_artifact.job_id = moved.id AND slot_status = $unprocessed
) SELECT id FROM moved`,
});

/**
 * Replaces a stage's unprocessed files by those that were made here from them. False if the lease is lost, or
 * if something happened to the job since it was read, such as another worker doing the same.
 */
export async function keepStageFiles(kept: Given<typeof STAGE_FILES>): Promise<boolean> {
  const count = await keepFiles.count(pool, kept);
  tell([kept.jobId]);
  return count === 1;
}
