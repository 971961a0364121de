import type { ModelAdapter, ModelAdapterChange } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { nameTaken } from "./insert";
import { nameKey } from "./names";
import { ADAPTER_COLUMNS, type AdapterRow, findAdapter, toAdapter } from "./rows";

/**
 * Changes the description of an adapter: fields that are left out stay, and null removes one. Its source stays, and
 * executions that were admitted keep the description of their moment. 422 where another adapter has the name.
 */
export async function change(ctx: Ctx, adapterId: string, said: ModelAdapterChange): Promise<ModelAdapter> {
  const { id, organization_id: organizationId } = await findAdapter(ctx, adapterId, "adapters:write");
  return inTransaction(async (client) => {
    const { rows: found } = await client.query<AdapterRow>(
      "SELECT * FROM model_adapter WHERE id = $1 AND deleted_at IS NULL FOR UPDATE",
      [id],
    );
    const old = found[0] ?? fail("NotFound", "There is no such adapter.");
    const name = said.displayName ?? old.display_name;
    const given = <T, K>(value: T | undefined, before: K) => (value === undefined ? before : value);
    const { rows } = await client
      .query<AdapterRow>(
        `WITH changed AS (
           UPDATE model_adapter SET display_name = $2, name_key = $3, base_model_family = $4, compatible_models = $5,
             trigger_words = $6, recommended_weight = $7, license_name = $8, license_url = $9, license_status = $10
           WHERE id = $1 RETURNING *)
         SELECT ${ADAPTER_COLUMNS} FROM changed adapter`,
        [
          id,
          name,
          nameKey(name),
          given(said.baseModelFamily, old.base_model_family) || null,
          [...new Set(said.compatibleModels ?? old.compatible_models)],
          [...new Set(said.triggerWords ?? old.trigger_words)],
          given(said.recommendedWeight, old.recommended_weight),
          given(said.licenseName, old.license_name) || null,
          given(said.licenseUrl, old.license_url) || null,
          said.licenseStatus ?? old.license_status,
        ],
      )
      .catch((cause) => (cause.code === UNIQUE_VIOLATION ? nameTaken() : Promise.reject(cause)));
    const subject = { organizationId, projectId: old.project_id, subject: id };
    const details = { displayName: name, environment: old.environment, fields: Object.keys(said).sort() };
    await record(ctx, { ...subject, action: "adapter.changed", details }, client);
    return toAdapter(rows[0] ?? fail("NotFound", "There is no such adapter."));
  });
}

const UNIQUE_VIOLATION = "23505";
