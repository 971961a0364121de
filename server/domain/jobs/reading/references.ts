import type { ListReferences, Reference, ReferencePage } from "@/server/contract/references";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { artifact, job, jobArtifact } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { beside, bool, int8, maybe, type Of, pick, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, SCOPE } from "@/server/sql/tenant";
import { SHEET_KINDS } from "./view";

const REFERENCE = {
  ...pick(artifact, "id media_type sha256 byte_length filename created_at"),
  ...beside("", {
    job_id: text,
    ...pick(job, "capability_key"),
    ...pick(jobArtifact, "kind label variant_index"),
  }),
  is_selected: maybe(bool),
};
// The condition on rows selects the same output as the job's primaryArtifactId, except for a mesh among
// several files.
const listReferences = statement("artifact.list.references", {
  params: {
    projectId: text,
    before: maybe(text),
    now: timestamptz,
    sheetKinds: texts,
    limit: int8,
    ...pick(SCOPE, "environment"),
  },
  row: REFERENCE,
  prepared: true,
  sql: `SELECT artifact.id, media_type, sha256, byte_length, filename, artifact.created_at,
        made.job_id, made.capability_key, made.kind, made.label, made.variant_index, made.is_selected
      FROM artifact LEFT JOIN LATERAL (
        SELECT job.id AS job_id, job.capability_key, listed.kind, listed.label, listed.variant_index,
          coalesce(job.selected_artifact_id = artifact.id, false) AS is_selected
        FROM job_artifact listed JOIN job ON job.project_id = listed.project_id AND job.id = listed.job_id
        WHERE listed.project_id = artifact.project_id AND listed.artifact_id = artifact.id AND job.status = 'succeeded' AND NOT job.is_blind
          AND ${inScope(pick(SCOPE, "environment"), "job")}
          AND (job.selected_artifact_id = artifact.id OR (
            job.selected_artifact_id IS NULL AND coalesce(job.requested_variants, 1) <= 1 AND (job.artifact_count = 1 OR (
              listed.kind = ANY($sheetKinds) AND 1 = (
                SELECT count(*) FROM job_artifact sheet
                WHERE sheet.project_id = job.project_id AND sheet.job_id = job.id AND sheet.kind = ANY($sheetKinds))))))
        ORDER BY job.id LIMIT 1
      ) made ON true
      WHERE artifact.project_id = $projectId AND ($before::text IS NULL OR artifact.id < $before)
        AND artifact.pruned_at IS NULL AND (artifact.expires_at IS NULL OR artifact.expires_at > $now)
        AND (artifact.uploaded_by IS NOT NULL OR made.job_id IS NOT NULL)
      ORDER BY artifact.id DESC LIMIT $limit`,
});

/**
 * Files in a project that a next generation may start from, newest first: uploaded inputs, and for each
 * succeeded job the output that was selected or is the only candidate. A key sees only outputs of its
 * environment. Files whose content is gone and outputs of an unjudged comparison are left out.
 */
export async function references(ctx: Ctx, projectId: string, query: ListReferences): Promise<ReferencePage> {
  const project = await access.authorize(ctx, "jobs:read", { projectInPath: projectId });
  const { environment } = access.authorize(ctx, "jobs:read", "rows");
  const rows = await listReferences.all(pool, {
    projectId: project.id,
    before: readCursor("artifact", query.cursor),
    now: ctx.now(),
    sheetKinds: SHEET_KINDS,
    limit: query.limit + 1,
    environment,
  });
  return toPage(rows, query.limit, toReference);
}

function toReference(row: Of<typeof REFERENCE>): Reference {
  return {
    artifactId: row.id,
    source: row.job_id === null ? "upload" : "output",
    mediaType: row.media_type,
    kind: row.kind ?? "input",
    sha256: row.sha256,
    byteLength: row.byte_length,
    filename: row.filename,
    label: row.label,
    jobId: row.job_id,
    capabilityKey: row.capability_key,
    variantIndex: row.variant_index,
    selected: row.is_selected ?? false,
    downloadPath:
      row.job_id === null ? `/v1/artifacts/${row.id}` : `/v1/jobs/${row.job_id}/artifacts/${row.id}`,
    createdAt: row.created_at.toISOString(),
  };
}
