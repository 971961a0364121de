import { TERMINAL } from "@/server/contract/jobs";
import { type HoldFacts, holdFactsOf } from "@/server/domain/budgets";
import { pageFloor } from "@/server/domain/paging";
import { job } from "@/server/generated/schema";
import { bool, int8, json, maybe, names, type Of, pick, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { IN_SCOPE, inScope, SCOPE } from "@/server/sql/tenant";
import { WORK, WORK_COLUMNS, WORK_PARAMS } from "./works";

const LISTED = pick(
  job,
  "id status capability_key created_at completed_at artifact_count error_code selected_artifact_id",
  "receipt_id billing_mode estimated_micros actual_micros comparison_id is_blind",
);
const LINE = { ...LISTED, hold: json<HoldFacts | null>() };
/** The columns of a job that its line in a list needs. */
export type Line = Of<typeof LINE>;
const LINE_COLUMNS = `${names(LISTED, "job")}, ${holdFactsOf("job.id")} AS hold`;

/**
 * AND joins the filters, so they never show a job that the caller could not list without them. An absent
 * filter is null.
 */
const FILTERS = {
  ...SCOPE,
  before: maybe(text),
  notBefore: maybe(text),
  ids: maybe(texts),
  status: maybe(job.status),
  outcome: maybe(text),
  capabilityKey: maybe(text),
  submitter: maybe(text),
  createdAfter: maybe(timestamptz),
  createdBefore: maybe(timestamptz),
  provider: maybe(text),
  model: maybe(text),
  minMicros: maybe(int8),
  keys: maybe(texts),
  keyProjectIds: maybe(texts),
  tags: maybe(texts),
  isSelected: maybe(bool),
  limit: int8,
};
export type Filters = Of<Omit<typeof FILTERS, keyof typeof SCOPE>>;

/*
 * The statements are planned with their parameters, so an absent filter is no part of the plan. A status that
 * is not terminal also names `completed_at IS NULL` to use the index of unfinished jobs; the index of tags
 * holds only jobs with tags; the index of keys begins with the project and the operation. Filters that would
 * reveal who did the work of a blind job, its price or its key leave blind jobs out.
 */
const LISTED_JOBS = `(SELECT * FROM job WHERE ${IN_SCOPE}
    AND ($before::text IS NULL OR id < $before)
    AND ($notBefore::text IS NULL OR id >= $notBefore)
    AND ($ids::text[] IS NULL OR id = ANY($ids))
    AND ($status::text IS NULL OR status = $status)
    AND ($status IS NULL OR $status IN (${TERMINAL.map((status) => `'${status}'`).join(", ")}) OR completed_at IS NULL)
    AND ($outcome::text IS NULL OR ($outcome = 'failed' AND status = 'failed')
      OR ($outcome = 'reusable' AND status = 'succeeded' AND artifact_count > 0))
    AND ($capabilityKey::text IS NULL OR capability_key = $capabilityKey)
    AND ($submitter::text IS NULL OR principal_id = $submitter)
    AND ($createdAfter::timestamptz IS NULL OR created_at >= $createdAfter)
    AND ($createdBefore::timestamptz IS NULL OR created_at < $createdBefore)
    AND (($provider::text IS NULL AND $model::text IS NULL AND $minMicros::bigint IS NULL AND $keys::text[] IS NULL) OR NOT is_blind)
    AND ($provider IS NULL OR provider = $provider)
    AND ($model IS NULL OR model = $model OR provider || '/' || model = $model)
    AND ($minMicros IS NULL OR coalesce(actual_micros, estimated_micros) >= $minMicros)
    AND ($keys IS NULL OR (project_id = ANY($keyProjectIds) AND operation IN ('jobs', 'invoke') AND idempotency_key = ANY($keys)))
    AND ($tags::text[] IS NULL OR (tags @> $tags AND tags <> '{}'))
    AND ($isSelected::boolean IS NULL OR (selected_artifact_id IS NOT NULL) = $isSelected)
    ORDER BY id DESC LIMIT $limit) job`;

export const listJobLines = statement("job.list", {
  params: FILTERS,
  row: LINE,
  sql: `SELECT ${LINE_COLUMNS} FROM ${LISTED_JOBS} ORDER BY job.id DESC`,
});

/** The same lines, with the columns that name each job in the panel. */
export const listNamedJobLines = statement("job.list.named", {
  params: { ...FILTERS, ...WORK_PARAMS },
  row: { ...LINE, ...WORK },
  sql: `SELECT ${LINE_COLUMNS}, ${WORK_COLUMNS} FROM ${LISTED_JOBS} ORDER BY job.id DESC`,
});

/** Finds the floor of a page of a project's jobs; `floorOfPrincipal` that of a principal's. */
export const floorInProject = pageFloor("job.read.last_in_project", {
  kind: "job",
  table: "job",
  place: "project_id",
});
export const floorOfPrincipal = pageFloor("job.read.last_of_principal", {
  kind: "job",
  table: "job",
  place: "principal_id",
});

/**
 * A project's jobs of one provider or model, found in the entries of one index, one environment after the other. Blind jobs, which
 * are few, are left out by their ids: an entry does not say that its job is blind, and the last id becomes the page's cursor.
 */
export const findByWorker = statement("job.list.by_worker", {
  params: {
    projectId: text,
    ...pick(SCOPE, "environment"),
    before: maybe(text),
    notBefore: maybe(text),
    provider: maybe(text),
    model: maybe(text),
    limit: int8,
  },
  row: pick(job, "id"),
  sql: `SELECT found.id FROM environment JOIN LATERAL (
      SELECT id FROM job
      WHERE project_id = $projectId AND environment = environment.slug
        AND ($before::text IS NULL OR id < $before) AND ($notBefore::text IS NULL OR id >= $notBefore)
        AND ($provider::text IS NULL OR provider = $provider)
        AND ($model::text IS NULL OR model = $model OR provider || '/' || model = $model)
        AND id <> ALL (ARRAY(SELECT blind.id FROM job blind WHERE blind.is_blind AND blind.project_id = $projectId))
      ORDER BY id DESC LIMIT $limit
    ) found ON true
    WHERE environment.project_id = $projectId AND ($environment::text IS NULL OR environment.slug = $environment)
    ORDER BY found.id DESC LIMIT $limit`,
});

/** The environments of the projects that a caller may see; null for a project without any. */
export const readPlaces = statement("environment.list.places", {
  params: pick(SCOPE, "organizationIds", "projectId"),
  row: { project_id: text, environment: maybe(text) },
  sql: `SELECT project.id AS project_id, environment.slug AS environment
    FROM project LEFT JOIN environment ON environment.project_id = project.id
    WHERE ${inScope(pick(SCOPE, "organizationIds"), "project")}
      AND ($projectId::text IS NULL OR project.id = $projectId)`,
});

/**
 * The replacement that a released key leaves on its former job, which finds that job in the index of keys.
 */
export const readReleasedKeys = statement("job.read.released_keys", {
  params: { projectIds: texts, spellings: texts },
  row: pick(job, "idempotency_key"),
  sql: `SELECT idempotency_key FROM job WHERE project_id = ANY($projectIds) AND released_key = ANY($spellings)`,
});
