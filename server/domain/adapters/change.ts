import type { ModelAdapter, ModelAdapterChange } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { modelAdapter } from "@/server/generated/schema";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { names, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { nameTaken } from "./insert";
import { nameKey } from "./names";
import { ADAPTER, ADAPTER_COLUMNS, findAdapter, toAdapter } from "./rows";

const lockAdapter = statement("model_adapter.lock", {
  params: { adapterId: text },
  row: modelAdapter,
  sql: `SELECT ${names(modelAdapter)} FROM model_adapter WHERE id = $adapterId AND deleted_at IS NULL FOR UPDATE`,
});
const updateAdapter = statement("model_adapter.update.described", {
  params: pick(
    modelAdapter,
    "id display_name name_key base_model_family compatible_models trigger_words recommended_weight",
    "license_name license_url license_status",
  ),
  row: ADAPTER,
  sql: `WITH changed AS (
      UPDATE model_adapter SET display_name = $display_name, name_key = $name_key, base_model_family = $base_model_family,
        compatible_models = $compatible_models, trigger_words = $trigger_words, recommended_weight = $recommended_weight,
        license_name = $license_name, license_url = $license_url, license_status = $license_status
      WHERE id = $id RETURNING *)
    SELECT ${ADAPTER_COLUMNS} FROM changed adapter`,
});

/**
 * Changes the description of an adapter: omitted fields stay, and null removes one. Its source stays, and
 * admitted executions keep the description from their admission. 422 if another adapter has the name.
 */
export async function change(ctx: Ctx, adapterId: string, said: ModelAdapterChange): Promise<ModelAdapter> {
  const { id, organization_id: organizationId } = await findAdapter(ctx, adapterId, "adapters:write");
  return inTransaction(async (client) => {
    const old =
      (await lockAdapter.first(client, { adapterId: id })) ?? fail("NotFound", "There is no such adapter.");
    const name = said.displayName ?? old.display_name;
    const given = <T, K>(value: T | undefined, before: K) => (value === undefined ? before : value);
    const row = await updateAdapter
      .first(client, {
        id,
        display_name: name,
        name_key: nameKey(name),
        base_model_family: given(said.baseModelFamily, old.base_model_family) || null,
        compatible_models: [...new Set(said.compatibleModels ?? old.compatible_models)],
        trigger_words: [...new Set(said.triggerWords ?? old.trigger_words)],
        recommended_weight: given(said.recommendedWeight, old.recommended_weight),
        license_name: given(said.licenseName, old.license_name) || null,
        license_url: given(said.licenseUrl, old.license_url) || null,
        license_status: said.licenseStatus ?? old.license_status,
      })
      .catch((cause) => (cause.code === UNIQUE_VIOLATION ? nameTaken() : Promise.reject(cause)));
    const subject = { organizationId, projectId: old.project_id, subject: id };
    const details = { displayName: name, environment: old.environment, fields: Object.keys(said).sort() };
    await record(ctx, { ...subject, action: "adapter.changed", details }, client);
    return toAdapter(row ?? fail("NotFound", "There is no such adapter."));
  });
}

const UNIQUE_VIOLATION = "23505";
