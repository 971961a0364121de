import type { ModelAdapter } from "@/server/contract/adapters";
import { access } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { modelAdapter } from "@/server/generated/schema";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { names, type Of, pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { runnableOf } from "./runnable";

/** An adapter with the aliases whose current version uses it. */
export const ADAPTER = { ...modelAdapter, aliases: texts };
export type AdapterRow = Of<typeof ADAPTER>;

/** The columns of `adapter`, with the aliases that point to it now. */
export const ADAPTER_COLUMNS = `${names(modelAdapter, "adapter")}, ARRAY(
  SELECT alias.alias FROM adapter_alias_version version JOIN adapter_alias alias ON alias.current_version_id = version.id
  WHERE version.project_id = adapter.project_id AND version.adapter_id = adapter.id ORDER BY alias.alias_key) AS aliases`;

const VISIBLE = pick(SCOPE, "organizationIds projectId environment");
const readVisible = statement("model_adapter.read.visible", {
  params: {
    adapterId: text,
    ...VISIBLE,
  },
  row: ADAPTER,
  sql: `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter WHERE adapter.id = $adapterId AND adapter.deleted_at IS NULL
       AND ${inScope(VISIBLE, "adapter")}`,
});

/**
 * An adapter that the caller may use with this right; NotFound for any other. A key sees those of its own
 * environment.
 */
export async function findAdapter(ctx: Ctx, adapterId: string, right: Scope): Promise<AdapterRow> {
  const environment = "environment" in ctx.principal ? ctx.principal.environment : null;
  const scope = { ...access.authorize(ctx, right, "rows"), environment };
  const [row] = await readInScope(readVisible, scope, { adapterId });
  if (!row) fail("NotFound", "There is no such adapter.");
  await access.authorize(ctx, right, { projectId: row.project_id });
  return row;
}

export function toAdapter(row: AdapterRow): ModelAdapter {
  return {
    adapterId: row.id,
    projectId: row.project_id,
    environment: row.environment,
    displayName: row.display_name,
    type: "lora",
    source: {
      kind: row.source_kind,
      ref: row.source_ref,
      revision: row.source_revision,
      filePath: row.file_path,
      provider: row.provider,
      sha256: row.sha256,
      byteLength: row.byte_length,
    },
    frozen: row.frozen,
    sourceHealth: {
      status: row.health_status,
      checkedAt: row.health_checked_at?.toISOString() ?? null,
      detail: row.health_detail,
    },
    baseModelFamily: row.base_model_family,
    compatibleModels: row.compatible_models,
    triggerWords: row.trigger_words,
    recommendedWeight: row.recommended_weight,
    licenseName: row.license_name,
    licenseUrl: row.license_url,
    licenseStatus: row.license_status,
    provenance: row.provenance,
    aliases: row.aliases,
    ...runnableOf(row),
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
  };
}

/** Throws a 422 at one field. */
export function refuseAt(loc: (string | number)[], msg: string, type: string): never {
  throw new ValidationFault([{ loc, msg, type }]);
}

/** An adapter as an execution uses it, with its names and source from the time of admission. */
export type ResolvedAdapter = {
  adapterId: string;
  displayName: string;
  /** Null if the request named the adapter by its id. */
  alias: { name: string; versionId: string; number: number } | null;
  weight: number;
  triggerWords: string[];
  source: {
    kind: AdapterRow["source_kind"];
    ref: string;
    revision: string | null;
    filePath: string | null;
    provider: string | null;
  };
  /** SHA-256 of the weights; null if unknown. */
  sha256: string | null;
  artifactId: string | null;
};
