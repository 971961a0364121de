import type { z } from "zod";
import type { ListManifests, Manifest, ManifestPage, ManifestRequest } from "@/server/contract/provenance";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { type Sealed, sealDocument, signatureOf } from "@/server/domain/receipts";
import { manifest } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { int8, maybe, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { manifestEntryOf } from "@/server/verify";
import { AT_ONCE, receiptsOf } from "./receipts";

/** Right to read and verify manifests and lockfiles. */
export const READ_PROVENANCE = "jobs:read";

const insertManifest = statement("manifest.insert", {
  params: {
    manifestId: manifest.id,
    projectId: manifest.project_id,
    organizationId: manifest.organization_id,
    principalId: manifest.created_by,
    label: manifest.label,
    experimentHash: manifest.experiment_hash,
    count: manifest.receipt_count,
    body: manifest.body,
    hash: manifest.hash,
    signature: manifest.signature,
    keyId: manifest.key_id,
    now: timestamptz,
  },
  sql: `INSERT INTO manifest (id, project_id, organization_id, created_by, label, experiment_hash, receipt_count, body, hash,
       signature, key_id, created_at)
     VALUES ($manifestId, $projectId, $organizationId, $principalId, $label, $experimentHash, $count, $body, $hash, $signature, $keyId, $now)`,
});

/**
 * Creates a hashed and signed document that lists receipts of one project, in this order. A missing
 * receipt, one of another project and one of an environment that the key does not cover are refused alike,
 * at their place in the list.
 */
export async function createManifest(ctx: Ctx, request: ManifestRequest): Promise<Manifest> {
  const project = await access.authorize(ctx, "provenance:write", { projectId: projectIdOf(request) });
  const { environment } = access.authorize(ctx, "provenance:write", "rows");
  const lines = await linesOf(project.id, environment, request.receiptIds);
  const [manifestId, now, experimentHash] = [newId("manifest"), ctx.now(), request.experimentHash ?? null];
  const body: { [member: string]: Json } = {
    schemaVersion: "service.manifest.v1",
    manifestId,
    projectId: project.id,
    label: request.label,
    experimentHash,
    createdAt: now.toISOString(),
    receipts: lines,
  };
  const sealed = await sealDocument(body);
  await insertManifest.run(pool, {
    manifestId,
    projectId: project.id,
    organizationId: project.organizationId,
    principalId: ctx.principal.id,
    label: request.label,
    experimentHash,
    count: lines.length,
    body: sealed.body,
    hash: sealed.hash,
    signature: sealed.signature,
    keyId: sealed.keyId,
    now,
  });
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
  // Receipts are read in batches, so only a few hundred are in memory at a time.
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

const VISIBLE = pick(SCOPE, "organizationIds projectId");
const readManifest = statement("manifest.read", {
  params: { manifestId: text, ...VISIBLE, ...pick(SCOPE, "principalId") },
  row: { ...pick(manifest, "body hash signature"), keyId: manifest.key_id },
  sql: `SELECT body, hash, signature, key_id AS "keyId" FROM manifest WHERE id = $manifestId
       AND ${inScope(VISIBLE)}
       AND ($principalId::text IS NULL OR created_by = $principalId)`,
  prepared: true,
});

/** Returns the manifest as sealed. Throws NotFound if it does not exist or the caller may not see it. */
export async function getManifest(ctx: Ctx, manifestId: string): Promise<Manifest> {
  const scope = access.authorize(ctx, READ_PROVENANCE, "made rows");
  const [row] = await readInScope(readManifest, scope, { manifestId });
  return row ? toManifest(row) : fail("NotFound", "There is no such manifest.");
}

const listRows = statement("manifest.list", {
  params: { projectId: text, before: maybe(text), limit: int8 },
  row: pick(manifest, "id label experiment_hash receipt_count hash created_at"),
  sql: `SELECT id, label, experiment_hash, receipt_count, hash, created_at FROM manifest
     WHERE project_id = $projectId AND ($before::text IS NULL OR id < $before) ORDER BY id DESC LIMIT $limit`,
});

/** Lists the manifests of a project, newest first. */
export async function listManifests(
  ctx: Ctx,
  { projectId, limit, cursor }: z.output<typeof ListManifests>,
): Promise<z.output<typeof ManifestPage>> {
  const project = await access.authorize(ctx, READ_PROVENANCE, { projectId });
  const rows = await listRows.all(pool, {
    projectId: project.id,
    before: readCursor("manifest", cursor),
    limit: limit + 1,
  });
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
