import type { StoredArtifact, UploadQuery } from "@/server/contract/inputs-stored";
import { access } from "@/server/domain/access";
import { artifactStore } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import { artifact } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { HOUR_MS } from "@/server/platform/time/units";
import { maybe, pick, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { toFilename, uploadExpiry } from "./artifact-row";
import { keepFor } from "./keep";
import { boundaryOf, filenameOf, readFilePart } from "./multipart";

export const MOST_UPLOAD_BYTES = 256 * 1024 * 1024;

/** An upload as received. */
export type InputUpload = {
  contentType: string | undefined;
  contentDisposition: string | undefined;
  contentLength: string | undefined;
  bytes: AsyncIterable<Uint8Array> | null;
};

/**
 * Stores an uploaded file as an artifact of the project. The bytes are hashed while they are written and
 * never held in memory; an upload that is too long, empty or cut off leaves nothing behind.
 */
export async function storeArtifact(
  ctx: Ctx,
  upload: InputUpload,
  query: UploadQuery,
): Promise<StoredArtifact> {
  const project = await access.authorize(ctx, "capabilities:run", { projectId: query.projectId });
  const declared = Number(upload.contentLength ?? Number.NaN);
  const boundary = boundaryOf(upload.contentType);
  // The multipart text around the file does not count; the file is measured while it is read.
  if (!boundary && declared > MOST_UPLOAD_BYTES) {
    fail("PayloadTooLarge", `The body is larger than the limit of ${MOST_UPLOAD_BYTES} bytes.`, {
      maxBytes: MOST_UPLOAD_BYTES,
    });
  }
  if (!upload.bytes) return refuse("Send the file as the body, or as the only file of a multipart body.");
  const file = boundary
    ? await readFilePart(upload.bytes, boundary)
    : {
        mediaType: upload.contentType ?? null,
        filename: filenameOf(`;${upload.contentDisposition ?? ""}`),
        bytes: whole(upload.bytes, declared),
      };
  const [mediaType, filename] = [toMediaType(file.mediaType), toFilename(query.filename ?? file.filename)];
  const kept = await keepFor(ctx, project.id, notEmpty(file.bytes), {
    maxBytes: MOST_UPLOAD_BYTES,
    filename,
    mediaType,
  });
  const { artifactId, sha256, byteLength, createdAt } = kept;
  const expiresAt = uploadExpiry(ctx, query.retentionRequirement);
  await kept.own(pool, expiresAt);
  return {
    artifactId,
    mediaType,
    filename,
    sha256,
    byteLength,
    projectId: project.id,
    kind: "input",
    downloadPath: `/v1/artifacts/${artifactId}`,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

/**
 * End of an SQL query over the jobs that made an artifact, of which there is rarely more than one; more
 * conditions may follow.
 */
const MAKERS_OF = (project: string, artifact: string) => `
  FROM job_artifact made JOIN job ON job.project_id = made.project_id AND job.id = made.job_id
  WHERE made.project_id = ${project} AND made.artifact_id = ${artifact}`;

const OF_PANEL_SESSION = (session: string) =>
  `job.principal_id = ${session} AND job.principal_kind = 'panel_session'`;

/**
 * SQL condition: the artifact was uploaded, and so belongs to the whole project, or a job of this environment
 * made it. A null environment matches all.
 */
const IS_OF_ENVIRONMENT = (environment: string) =>
  `(${environment}::text IS NULL OR artifact.uploaded_by IS NOT NULL OR EXISTS (
    SELECT ${MAKERS_OF("artifact.project_id", "artifact.id")} AND job.environment = ${environment}))`;

const listMade = statement("artifact.list.made_in_embed", {
  params: { sessionId: text, projectId: text, artifactIds: texts },
  row: { id: present(text, "an id of the list, which holds no null") },
  sql: `SELECT asked.id FROM unnest($artifactIds::text[]) AS asked(id) WHERE EXISTS (
       SELECT ${MAKERS_OF("$projectId", "asked.id")} AND ${OF_PANEL_SESSION("$sessionId")})`,
});

/** The ids, among these, of artifacts that jobs of this embed session made. */
export async function madeInEmbed(
  sessionId: string,
  projectId: string,
  artifactIds: string[],
): Promise<Set<string>> {
  const rows = await listMade.all(pool, { sessionId, projectId, artifactIds });
  return new Set(rows.map(({ id }) => id));
}

/** Columns of an artifact's row. */
export type FoundArtifact = {
  id: string;
  project_id: string;
  media_type: string;
  sha256: string;
  byte_length: number;
  filename: string | null;
  pruned_at: Date | null;
};

const readArtifact = statement("artifact.read.visible", {
  params: { artifactId: text, ...SCOPE },
  row: pick(artifact, "id project_id media_type sha256 byte_length filename pruned_at"),
  sql: `SELECT artifact.id, artifact.project_id, media_type, sha256, byte_length, filename, pruned_at
     FROM artifact JOIN project ON project.id = artifact.project_id
     WHERE artifact.id = $artifactId AND ${inScope(pick(SCOPE, "organizationIds"), "project")}
       AND ${inScope(pick(SCOPE, "projectId"), "artifact")}
       AND ($principalId::text IS NULL OR EXISTS (SELECT ${MAKERS_OF("artifact.project_id", "artifact.id")} AND ${OF_PANEL_SESSION("$principalId")}))
       AND ${IS_OF_ENVIRONMENT("$environment")}`,
});

/**
 * An artifact by its id: uploaded to a project that the caller may see, or made by a job that the caller may
 * see. NotFound for a foreign artifact as for an unknown one; Gone if its bytes were removed.
 */
export async function findArtifact(ctx: Ctx, artifactId: string): Promise<FoundArtifact> {
  const scope = access.authorize(ctx, "jobs:read", "made rows");
  const [found] = await readInScope(readArtifact, scope, { artifactId });
  if (!found) fail("NotFound", "There is no such artifact.");
  if (found.pruned_at || !(await artifactStore().stat(found.sha256)))
    fail("Gone", "The content of this artifact was removed at the end of its retention.");
  return found;
}

/**
 * Artifacts that an input may name: uploads of the project, and the outputs of one environment, or of all if
 * null.
 */
export type InputReach = { projectId: string; outputsOf: string | null };

const readInput = statement("artifact.read.input", {
  params: { artifactId: text, projectId: text, outputsOf: maybe(text) },
  row: pick(artifact, "id project_id media_type sha256 byte_length filename pruned_at"),
  sql: `SELECT id, project_id, media_type, sha256, byte_length, filename, pruned_at FROM artifact
     WHERE id = $artifactId AND project_id = $projectId AND pruned_at IS NULL AND ${IS_OF_ENVIRONMENT("$outputsOf")}`,
});

/**
 * The artifact that an input names, if its request reaches it. A foreign project or environment, an unknown
 * id and a removed artifact give the same 422 at this field.
 */
export async function artifactInput(
  { projectId, outputsOf }: InputReach,
  artifactId: string,
  field: (string | number)[],
): Promise<FoundArtifact> {
  return (await readInput.first(pool, { artifactId, projectId, outputsOf })) ?? noSuchArtifact(field);
}

/** How long the artifacts of a request are kept for the row that names them, which is about to be written. */
const NAMED_SOON_MS = HOUR_MS;

const keepRows = statement("artifact.update.kept_until", {
  params: { projectId: text, ids: texts, until: timestamptz },
  row: { id: artifact.id },
  sql: `WITH found AS MATERIALIZED (
       SELECT id, expires_at FROM artifact WHERE project_id = $projectId AND id = ANY($ids) AND pruned_at IS NULL ORDER BY id FOR NO KEY UPDATE
     ), kept AS (
       UPDATE artifact SET kept_until = $until FROM found WHERE artifact.id = found.id AND found.expires_at < $until
     )
     SELECT id FROM found`,
});

/**
 * Keeps the artifacts that a request names for an hour, in which the row of its job or adapter is made and
 * keeps them from then on; their expiry for others does not change. Content that was removed since it was found
 * gives the same 422 as an unknown id. Pruning reads the rows under the same locks.
 */
export async function keepNamed(
  database: Queryable,
  projectId: string,
  named: { artifactId: string; field: (string | number)[] }[],
  now: Date,
): Promise<void> {
  if (named.length === 0) return;
  const rows = await keepRows.all(database, {
    projectId,
    ids: named.map(({ artifactId }) => artifactId),
    until: new Date(now.getTime() + NAMED_SOON_MS),
  });
  const found = new Set(rows.map(({ id }) => id));
  for (const { artifactId, field } of named) if (!found.has(artifactId)) noSuchArtifact(field);
}

function noSuchArtifact(field: (string | number)[]): never {
  throw new ValidationFault([
    { loc: ["body", ...field], msg: "There is no such artifact in this project.", type: "not_found" },
  ]);
}

/** Refuses a body whose length differs from its Content-Length, because it was cut off. */
async function* whole(bytes: AsyncIterable<Uint8Array>, declared: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of bytes) {
    length += piece.byteLength;
    yield piece;
  }
  if (Number.isFinite(declared) && length !== declared)
    refuse("The body ended before its Content-Length. Send the whole file again.");
}

async function* notEmpty(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const piece of bytes) {
    if (piece.byteLength > 0) isEmpty = false;
    yield piece;
  }
  if (isEmpty) refuse("The file is empty.");
}

function refuse(msg: string): never {
  throw new ValidationFault([{ loc: ["body"], msg, type: "value_error" }]);
}

/** The media type alone, without parameters; octet-stream if it is invalid. */
function toMediaType(given: string | null): string {
  const type = given?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,127}$/.test(type) ? type : "application/octet-stream";
}
