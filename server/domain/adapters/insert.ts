import type { ModelAdapter, ModelAdapterCreate } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import type { Transaction } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { nameKey } from "./names";
import type { Place } from "./place";
import { type AdapterRow, refuseAt, toAdapter } from "./rows";

/** Where weights come from, and how sure that is, as it is kept. */
export type KnownSource = Omit<ModelAdapter["source"], "kind"> & {
  kind: ModelAdapter["source"]["kind"];
  /** Does it name the same bytes for ever? */
  frozen: boolean;
  /** Where they are in our own store. */
  artifactId: string | null;
  health: { status: ModelAdapter["sourceHealth"]["status"]; checkedAt: Date | null; detail: string | null };
};

/** What is said of an adapter besides its source. */
export type Described = Pick<ModelAdapterCreate, "displayName"> &
  Partial<Omit<ModelAdapterCreate, "displayName" | "source" | "type" | "environment">>;

/**
 * Writes an adapter and who registered it, within the caller's transaction. Null where another adapter of the
 * environment has the name.
 */
export async function insertAdapter(
  ctx: Ctx,
  database: Transaction,
  { project, projectId, environment }: Place,
  { described, source }: { described: Described; source: KnownSource },
): Promise<ModelAdapter | null> {
  const { rows } = await database.query<AdapterRow>(
    `INSERT INTO model_adapter (id, organization_id, project_id, environment, display_name, name_key, type, source_kind,
       source_ref, source_revision, file_path, provider, sha256, byte_length, frozen, artifact_id, health_status,
       health_checked_at, health_detail, base_model_family, compatible_models, trigger_words, recommended_weight,
       license_name, license_url, license_status, provenance, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'lora', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
       $23, $24, $25, $26, $27, $28)
     ON CONFLICT (project_id, environment, name_key) WHERE deleted_at IS NULL DO NOTHING
     RETURNING *, ARRAY[]::text[] AS aliases`,
    [
      newId("adapter"),
      project.organizationId,
      projectId,
      environment,
      described.displayName,
      nameKey(described.displayName),
      source.kind,
      source.ref,
      source.revision,
      source.filePath,
      source.provider,
      source.sha256,
      source.byteLength,
      source.frozen,
      source.artifactId,
      source.health.status,
      source.health.checkedAt,
      source.health.detail,
      described.baseModelFamily || null,
      [...new Set(described.compatibleModels)],
      [...new Set(described.triggerWords)],
      described.recommendedWeight ?? null,
      described.licenseName || null,
      described.licenseUrl || null,
      described.licenseStatus ?? "unknown",
      JSON.stringify(described.provenance ?? {}),
      ctx.principal.id,
      ctx.now(),
    ],
  );
  const row = rows[0];
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

/** A signature or a token of a link has no place in a log that never changes. */
const withoutQuery = (ref: string) => ref.replace(/[?#].*$/s, "");

/** The refusal of a name that another adapter has. */
export function nameTaken(): never {
  return refuseAt(
    ["body", "displayName"],
    "Another adapter in this environment already has this name (case is ignored). Choose another name.",
    "name_taken",
  );
}
