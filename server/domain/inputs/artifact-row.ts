import { RETENTION_DAYS } from "@/server/contract/envelope";
import type { StoredArtifact, UploadQuery } from "@/server/contract/inputs-stored";
import type { Ctx } from "@/server/domain/ctx";
import { artifact } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { maybe, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** The fields of an uploaded artifact's row. */
type NewArtifact = Pick<
  StoredArtifact,
  "artifactId" | "projectId" | "mediaType" | "sha256" | "byteLength" | "filename"
> & { createdAt: Date; expiresAt: Date | null };

/** Expiry of an upload made now; null if it is kept forever. */
export function uploadExpiry(ctx: Ctx, requirement: UploadQuery["retentionRequirement"]): Date | null {
  const days = RETENTION_DAYS[requirement ?? "Transient"];
  return days === null ? null : new Date(ctx.now().getTime() + days * DAY_MS);
}

const insertRow = statement("artifact.insert", {
  params: {
    artifactId: artifact.id,
    projectId: artifact.project_id,
    mediaType: artifact.media_type,
    sha256: artifact.sha256,
    byteLength: artifact.byte_length,
    filename: artifact.filename,
    createdAt: timestamptz,
    expiresAt: maybe(timestamptz),
    principalId: artifact.uploaded_by,
  },
  sql: `INSERT INTO artifact (id, project_id, media_type, sha256, byte_length, filename, created_at, expires_at, uploaded_by)
     VALUES ($artifactId, $projectId, $mediaType, $sha256, $byteLength, $filename, $createdAt, $expiresAt, $principalId)`,
});

export async function insertArtifact(ctx: Ctx, artifact: NewArtifact, database: Queryable): Promise<void> {
  await insertRow.run(database, {
    artifactId: artifact.artifactId,
    projectId: artifact.projectId,
    mediaType: artifact.mediaType,
    sha256: artifact.sha256,
    byteLength: artifact.byteLength,
    filename: artifact.filename,
    createdAt: artifact.createdAt,
    expiresAt: artifact.expiresAt,
    principalId: ctx.principal.id,
  });
}

/**
 * The last path segment, without characters that a database cannot store, cut to 255 characters; null if
 * nothing remains.
 */
export function toFilename(given: string | null): string | null {
  const name =
    given
      ?.split(/[/\\]/)
      .at(-1)
      ?.replaceAll("\0", "")
      .replace(/\p{Surrogate}/gu, "\ufffd")
      .trim() ?? "";
  return name === "" ? null : [...name].slice(0, 255).join("");
}
