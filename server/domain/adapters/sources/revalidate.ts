import type { ModelAdapter } from "@/server/contract/adapters";
import { artifactStore } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import { modelAdapter } from "@/server/generated/schema";
import { readSource, type SourceHealth, sourceIo, sourceOf } from "@/server/model-sources";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { ADAPTER, ADAPTER_COLUMNS, type AdapterRow, findAdapter, toAdapter } from "../rows";

const recordHealth = statement("model_adapter.update.health", {
  params: {
    adapterId: text,
    status: modelAdapter.health_status,
    now: timestamptz,
    detail: modelAdapter.health_detail,
  },
  row: ADAPTER,
  sql: `WITH changed AS (
       UPDATE model_adapter SET health_status = $status, health_checked_at = $now, health_detail = $detail
       WHERE id = $adapterId AND deleted_at IS NULL RETURNING *)
     SELECT ${ADAPTER_COLUMNS} FROM changed adapter`,
});

/**
 * Checks that an adapter's weights still exist unchanged, and stores the result. It follows no branch or tag,
 * and changes neither the adapter's source nor what points to the adapter.
 */
export async function revalidate(ctx: Ctx, adapterId: string): Promise<ModelAdapter> {
  const known = await findAdapter(ctx, adapterId, "adapters:write");
  const { status, detail } = await healthOf(ctx, known);
  const row = await recordHealth.first(pool, { adapterId: known.id, status, now: ctx.now(), detail });
  return row ? toAdapter(row) : fail("NotFound", "There is no such adapter.");
}

async function healthOf(ctx: Ctx, row: AdapterRow): Promise<SourceHealth> {
  if (row.provider !== null)
    return { status: "unknown", detail: "Only the provider can check this reference." };
  if (row.source_kind === "service_artifact") return healthOfArtifact(row);
  const read = readSource(row.source_ref);
  if (!read)
    return { status: "unknown", detail: "This installation no longer reads weights from this source." };
  const source = { ...read, revision: row.source_revision, filePath: row.file_path };
  const { frozen: isFrozen, sha256, byte_length: byteLength } = row;
  const look = sourceOf(source).health;
  if (!look) throw new Error(`sources of kind ${source.kind} have no health check`);
  return look({ source, isFrozen, sha256, byteLength, url: null }, sourceIo(ctx.signal?.()));
}

async function healthOfArtifact({ sha256, byte_length }: AdapterRow): Promise<SourceHealth> {
  const stored = sha256 === null ? null : await artifactStore().stat(sha256);
  if (!stored) return { status: "missing", detail: "The artifact's content was removed." };
  return stored.byteLength === byte_length
    ? { status: "healthy", detail: null }
    : { status: "degraded", detail: "The artifact's size has changed." };
}
