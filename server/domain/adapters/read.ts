import type { z } from "zod";
import type { ListModelAdapters, ModelAdapter, ModelAdapterPage } from "@/server/contract/adapters";
import { familyOfWord } from "@/server/contract/model-families";
import type { Ctx } from "@/server/domain/ctx";
import { pageOf, readCursor } from "@/server/domain/paging";
import { pool } from "@/server/platform/db";
import { nameKey } from "./names";
import { type Place, placeOf } from "./place";
import { ADAPTER_COLUMNS, type AdapterRow, findAdapter, toAdapter } from "./rows";

/** The adapters of an environment, newest first: all, or those that are looked for. */
export async function list(
  ctx: Ctx,
  query: z.output<typeof ListModelAdapters>,
): Promise<z.output<typeof ModelAdapterPage>> {
  const place = await placeOf(ctx, query, "jobs:read");
  const { q, baseModelFamily, health, limit } = query;
  const { rows } = await pool.query<AdapterRow>(
    `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter
     WHERE adapter.project_id = $1 AND adapter.environment = $2 AND adapter.deleted_at IS NULL
       AND ($3::text IS NULL OR adapter.id < $3)
       AND ($5::text IS NULL OR position($6 in adapter.name_key) > 0
         OR position(lower($5) in lower(concat_ws(E'\n', adapter.source_ref, adapter.file_path,
              array_to_string(adapter.trigger_words, E'\n')))) > 0
         OR EXISTS (SELECT FROM adapter_alias alias JOIN adapter_alias_version version ON version.id = alias.current_version_id
              WHERE version.project_id = adapter.project_id AND version.adapter_id = adapter.id
                AND position($6 in alias.alias_key) > 0))
       AND ($7::text[] IS NULL OR adapter.base_model_family = ANY($7))
       AND ($8::text IS NULL OR adapter.health_status = $8)
     ORDER BY adapter.id DESC LIMIT $4`,
    [
      place.projectId,
      place.environment,
      readCursor("adapter", query.cursor),
      limit + 1,
      q || null,
      q ? nameKey(q) : null,
      baseModelFamily ? await namesOfFamily(place, baseModelFamily) : null,
      health ?? null,
    ],
  );
  return pageOf(rows, limit, toAdapter);
}

/** What the adapters of an environment call the family: `FLUX.1-dev` is `flux`. */
async function namesOfFamily({ projectId, environment }: Place, family: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT DISTINCT base_model_family AS name FROM model_adapter
     WHERE project_id = $1 AND environment = $2 AND deleted_at IS NULL AND base_model_family IS NOT NULL`,
    [projectId, environment],
  );
  const meant = familyOfWord(family);
  return rows
    .map(({ name }) => name)
    .filter((name) => (meant ? familyOfWord(name) === meant : nameKey(name) === nameKey(family)));
}

/** One adapter. */
export async function get(ctx: Ctx, adapterId: string): Promise<ModelAdapter> {
  return toAdapter(await findAdapter(ctx, adapterId, "jobs:read"));
}
