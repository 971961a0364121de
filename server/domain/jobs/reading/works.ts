import { DATA_CLASSES, TERMINAL } from "@/server/contract/enums";
import { isPrivate } from "@/server/contract/envelope";
import { subjectOf } from "@/server/contract/subject";
import type { Work } from "@/server/contract/work";
import { access } from "@/server/domain/access";
import { openContent, type StoredContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { job } from "@/server/generated/schema";
import { column, json, names, type Of, pick, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { IN_SCOPE, readInScope, SCOPE } from "@/server/sql/tenant";
import { UNPROCESSED } from "../rows";

/** A longer request is not read to name its job, because a list has up to a hundred lines. */
const MOST_BYTES = 64 * 1024;
/** A larger picture gets no thumbnail in a list. */
export const MOST_INLINE_PICTURE_BYTES = 16 * 1024 * 1024;
/** The media types of pictures that get a thumbnail. */
export const PICTURES = ["image/png", "image/jpeg", "image/webp"];
const PRIVATE = DATA_CLASSES.filter(isPrivate);

/** Columns that name a job in a list, in addition to its id, capability and status. */
export const WORK = {
  ...pick(job, "data_classification", "retention_requirement"),
  requests: json<(StoredContent | { id: null })[] | null>(),
  picture: column<string | null>("text", true),
};
const NAMED = pick(job, "id", "capability_key", "status");
type WorkRow = Of<typeof NAMED> & Of<typeof WORK>;

export const WORK_PARAMS = { private: texts, pictures: texts };
export const WORK_GIVEN = { private: PRIVATE, pictures: PICTURES };

/** The columns of `WORK` for a statement that reads rows of `job`, with the parameters `WORK_PARAMS`. */
// A blind job shows only what its competitors share, so their requests are read with its own.
export const WORK_COLUMNS = `job.data_classification, job.retention_requirement,
    CASE WHEN job.data_classification <> ALL($private) THEN (
      SELECT json_agg(json_build_object('id', payload.id, 'content', payload.content, 'is_sealed', payload.is_sealed))
      FROM (SELECT job.id UNION SELECT entry.job_id FROM comparison_entry entry
        WHERE job.is_blind AND entry.comparison_id = job.comparison_id AND entry.project_id = job.project_id) asked
      LEFT JOIN payload ON payload.job_id = asked.id AND payload.project_id = job.project_id
        AND payload.kind = 'request' AND payload.byte_length <= ${MOST_BYTES}) END AS requests,
    CASE WHEN job.data_classification <> ALL($private) AND job.artifact_count > 0 THEN (
      SELECT artifact.id FROM job_artifact JOIN artifact
        ON artifact.project_id = job_artifact.project_id AND artifact.id = job_artifact.artifact_id
      WHERE job_artifact.job_id = job.id AND job_artifact.project_id = job.project_id
        AND media_type = ANY($pictures) AND byte_length <= ${MOST_INLINE_PICTURE_BYTES} AND pruned_at IS NULL
        AND slot_status IS DISTINCT FROM '${UNPROCESSED}'
      ORDER BY artifact.id IS NOT DISTINCT FROM job.selected_artifact_id DESC, position LIMIT 1) END AS picture`;

const worksOf = statement("works-of-jobs", {
  params: { ids: texts, ...WORK_PARAMS, ...SCOPE },
  row: { ...NAMED, ...WORK },
  sql: `SELECT ${names(NAMED, "job")}, ${WORK_COLUMNS} FROM job WHERE id = ANY($ids) AND ${IN_SCOPE}`,
});

/**
 * How lists name these jobs, by job id. A job that the caller may not read is left out. A blind job has the
 * subject that it shares with its competitors, as in `sharedRequestOf`.
 */
export async function works(ctx: Ctx, jobIds: Iterable<string>): Promise<Map<string, Work>> {
  const ids = [...new Set(jobIds)];
  if (ids.length === 0) return new Map();
  const scope = access.authorize(ctx, "jobs:read", "made rows");
  const rows = await readInScope(worksOf, scope, { ids, ...WORK_GIVEN });
  return new Map(rows.map((row) => [row.id, toWork(row)]));
}

export const toWork = (row: WorkRow): Work => ({
  capabilityKey: row.capability_key,
  subject:
    row.retention_requirement === "HashesOnly" && TERMINAL.includes(row.status)
      ? null // as in `requestContentOf`
      : sharedSubjectOf(row.requests ?? []),
  isPrivate: isPrivate(row.data_classification),
  picture: row.picture === null ? null : { jobId: row.id, artifactId: row.picture },
});

/** Null if a request is missing or has another subject. */
function sharedSubjectOf(requests: (StoredContent | { id: null })[]): string | null {
  const [first, ...others] = requests.map((each) => {
    const content = each.id === null ? null : openContent(each);
    return content === null ? null : subjectOf({ requestSnapshot: JSON.parse(content) }); // written by admission
  });
  return others.every((other) => other === first) ? (first ?? null) : null;
}
