import type { ModelAdapter, ModelAdapterCreate } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { modelAdapter } from "@/server/generated/schema";
import type { Transaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { names, omit } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { nameKey } from "./names";
import type { AdapterEnvironment } from "./place";
import { ADAPTER, refuseAt, toAdapter } from "./rows";

/** The stored source of weights, with its certainty and its health. */
export type KnownSource = Omit<ModelAdapter["source"], "kind"> & {
  kind: ModelAdapter["source"]["kind"];
  /** True if the source names the same bytes forever. */
  frozen: boolean;
  /** Artifact of the weights in our own store; null if they are elsewhere. */
  artifactId: string | null;
  health: { status: ModelAdapter["sourceHealth"]["status"]; checkedAt: Date | null; detail: string | null };
};

/** Description of an adapter, without its source. */
export type AdapterDescription = Pick<ModelAdapterCreate, "displayName"> &
  Partial<Omit<ModelAdapterCreate, "displayName" | "source" | "type" | "environment">>;

const addAdapter = statement("model_adapter.insert", {
  params: omit(modelAdapter, "type", "deleted_at"),
  row: ADAPTER,
  sql: `INSERT INTO model_adapter (id, organization_id, project_id, environment, display_name, name_key, type, source_kind,
       source_ref, source_revision, file_path, provider, sha256, byte_length, frozen, artifact_id, health_status,
       health_checked_at, health_detail, base_model_family, compatible_models, trigger_words, recommended_weight,
       license_name, license_url, license_status, provenance, created_by, created_at)
     VALUES ($id, $organization_id, $project_id, $environment, $display_name, $name_key, 'lora', $source_kind,
       $source_ref, $source_revision, $file_path, $provider, $sha256, $byte_length, $frozen, $artifact_id, $health_status,
       $health_checked_at, $health_detail, $base_model_family, $compatible_models, $trigger_words, $recommended_weight,
       $license_name, $license_url, $license_status, $provenance, $created_by, $created_at)
     ON CONFLICT (project_id, environment, name_key) WHERE deleted_at IS NULL DO NOTHING
     RETURNING ${names(modelAdapter)}, ARRAY[]::text[] AS aliases`,
});

/**
 * Writes an adapter and its audit entry within the caller's transaction. Null if another adapter of the
 * environment has the name.
 */
export async function insertAdapter(
  ctx: Ctx,
  database: Transaction,
  { project, projectId, environment }: AdapterEnvironment,
  { described, source }: { described: AdapterDescription; source: KnownSource },
): Promise<ModelAdapter | null> {
  const row = await addAdapter.first(database, {
    id: newId("adapter"),
    organization_id: project.organizationId,
    project_id: projectId,
    environment,
    display_name: described.displayName,
    name_key: nameKey(described.displayName),
    source_kind: source.kind,
    source_ref: source.ref,
    source_revision: source.revision,
    file_path: source.filePath,
    provider: source.provider,
    sha256: source.sha256,
    byte_length: source.byteLength,
    frozen: source.frozen,
    artifact_id: source.artifactId,
    health_status: source.health.status,
    health_checked_at: source.health.checkedAt,
    health_detail: source.health.detail,
    base_model_family: described.baseModelFamily || null,
    compatible_models: [...new Set(described.compatibleModels)],
    trigger_words: [...new Set(described.triggerWords)],
    recommended_weight: described.recommendedWeight ?? null,
    license_name: described.licenseName || null,
    license_url: described.licenseUrl || null,
    license_status: described.licenseStatus ?? "unknown",
    provenance: described.provenance ?? {},
    created_by: ctx.principal.id,
    created_at: ctx.now(),
  });
  if (!row) return null;
  await record(
    ctx,
    {
      organizationId: project.organizationId,
      projectId,
      action: "adapter.registered",
      subject: row.id,
      details: {
        displayName: row.display_name,
        environment,
        source: source.kind,
        ref: withoutQuery(source.ref),
      },
    },
    database,
  );
  return toAdapter(row);
}

/** Cuts a link's query and fragment: a signature or token must not enter a log that never changes. */
const withoutQuery = (ref: string) => ref.replace(/[?#].*$/s, "");

/** Refuses a name that another adapter has. */
export function nameTaken(): never {
  return refuseAt(
    ["body", "displayName"],
    "Another adapter in this environment already has this name (case is ignored). Choose another name.",
    "name_taken",
  );
}
