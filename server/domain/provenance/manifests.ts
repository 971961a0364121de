import type { z } from "zod";
import type { ListManifests, Manifest, ManifestPage, ManifestRequest } from "@/server/contract/provenance";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { type Sealed, sealDocument, signatureOf } from "@/server/domain/receipts";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { manifestEntryOf } from "@/server/verify";
import { AT_ONCE, receiptsOf } from "./receipts";

/** The right to read manifests and lockfiles, and to have them verified. */
export const READ = "jobs:read";

/**
 * Binds receipts of one project, in this order, into a document that is hashed and signed. A receipt of another project, of
 * another environment than the key's and none at all are refused alike, at their place in the list.
 */
export async function createManifest(ctx: Ctx, request: ManifestRequest): Promise<Manifest> {
  const project = await access.authorize(ctx, "provenance:write", { projectId: projectIdOf(request) });
  const { environment } = access.authorize(ctx, "provenance:write", "rows");
  const lines = await linesOf(project.id, environment, request.receiptIds);
  const body: { [member: string]: Json } = {
    schemaVersion: "service.manifest.v1",
    manifestId: newId("manifest"),
    projectId: project.id,
    label: request.label,
    experimentHash: request.experimentHash ?? null,
    createdAt: ctx.now().toISOString(),
    receipts: lines,
  };
  const sealed = await sealDocument(body);
  await pool.query(
    `INSERT INTO manifest (id, project_id, organization_id, created_by, label, experiment_hash, receipt_count, body, hash,
       signature, key_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      body.manifestId,
      project.id,
      project.organizationId,
      ctx.principal.id,
      body.label,
      body.experimentHash,
      lines.length,
      sealed.body,
      sealed.hash,
      sealed.signature,
      sealed.keyId,
      body.createdAt,
    ],
  );
  return toManifest(sealed);
}

function projectIdOf({ projectId, context }: ManifestRequest): string | null | undefined {
  const other = context?.projectId;
  if (projectId && other && projectId !== other)
    fail("CONFLICTING_EXECUTION_CONSTRAINT", "projectId has two different values. Send it once.", {
      field: "projectId",
      values: [projectId, other],
    });
  return projectId || other;
}

async function linesOf(projectId: string, environment: string | null, ids: string[]) {
  const issues: { loc: (string | number)[]; msg: string; type: string }[] = [];
  const refuse = (place: number, msg: string, type: string) =>
    issues.push({ loc: ["body", "receiptIds", place], msg, type });
  const seen = new Set<string>();
  for (const [place, id] of ids.entries()) {
    if (seen.has(id)) refuse(place, "This receipt is already in the list.", "duplicate");
    seen.add(id);
  }
  const lines: { [member: string]: Json }[] = [];
  // In pieces, so that no more than a few hundred receipts are in memory at once.
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const asked = ids.slice(from, from + AT_ONCE);
    const found = await receiptsOf(projectId, environment, asked);
    for (const [place, id] of asked.entries()) {
      const receipt = found.get(id);
      if (receipt) lines.push(manifestEntryOf(receipt.document));
      else refuse(from + place, "There is no such receipt in this project.", "not_found");
    }
  }
  if (issues.length > 0) throw new ValidationFault(issues.slice(0, 100));
  return lines;
}

const toManifest = ({ body, hash, ...signed }: Sealed): Manifest => ({
  ...(JSON.parse(body) as Omit<Manifest, "manifestHash" | "signature">), // written by createManifest
  manifestHash: hash,
  signature: signatureOf(signed),
});

/** The manifest as it was sealed. Somebody else's and none at all are the same NotFound. */
export async function getManifest(ctx: Ctx, manifestId: string): Promise<Manifest> {
  const scope = access.authorize(ctx, READ, "made rows");
  const { rows } = await pool.query<Sealed>({
    name: "manifest-by-id",
    text: `SELECT body, hash, signature, key_id AS "keyId" FROM manifest WHERE id = $1
       AND ($2::text[] IS NULL OR organization_id = ANY($2)) AND ($3::text IS NULL OR project_id = $3)
       AND ($4::text IS NULL OR created_by = $4)`,
    values: [manifestId, scope.organizationIds, scope.projectId, scope.principalId],
  });
  return rows[0] ? toManifest(rows[0]) : fail("NotFound", "There is no such manifest.");
}

/** The manifests of a project, newest first. */
export async function listManifests(
  ctx: Ctx,
  { projectId, limit, cursor }: z.output<typeof ListManifests>,
): Promise<z.output<typeof ManifestPage>> {
  const project = await access.authorize(ctx, READ, { projectId });
  const { rows } = await pool.query<{
    id: string;
    label: string;
    experiment_hash: string | null;
    receipt_count: number;
    hash: string;
    created_at: Date;
  }>(
    `SELECT id, label, experiment_hash, receipt_count, hash, created_at FROM manifest
     WHERE project_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [project.id, readCursor("manifest", cursor), limit + 1],
  );
  return nullEndedPageOf(rows, limit, (row) => ({
    manifestId: row.id,
    projectId: project.id,
    label: row.label,
    experimentHash: row.experiment_hash,
    createdAt: row.created_at.toISOString(),
    manifestHash: row.hash,
    receiptCount: row.receipt_count,
  }));
}
