import type { z } from "zod";
import type { ListModelAdapters, ModelAdapter, ModelAdapterPage } from "@/server/contract/adapters";
import { familyOfWord } from "@/server/contract/model-families";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { modelAdapter } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { int8, maybe, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { nameKey } from "./names";
import { type AdapterEnvironment, requireEnvironment } from "./place";
import { ADAPTER, ADAPTER_COLUMNS, findAdapter, toAdapter } from "./rows";

const search = statement("model_adapter.list.search", {
  params: {
    projectId: text,
    environment: text,
    after: maybe(text),
    limit: int8,
    q: maybe(text),
    key: maybe(text),
    families: maybe(texts),
    health: maybe(modelAdapter.health_status),
  },
  row: ADAPTER,
  sql: `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter
     WHERE adapter.project_id = $projectId AND adapter.environment = $environment AND adapter.deleted_at IS NULL
       AND ($after::text IS NULL OR adapter.id < $after)
       AND ($q::text IS NULL OR position($key in adapter.name_key) > 0
         OR position(lower($q) in lower(concat_ws(E'\\n', adapter.source_ref, adapter.file_path,
              array_to_string(adapter.trigger_words, E'\\n')))) > 0
         OR EXISTS (SELECT FROM adapter_alias alias JOIN adapter_alias_version version ON version.id = alias.current_version_id
              WHERE version.project_id = adapter.project_id AND version.adapter_id = adapter.id
                AND position($key in alias.alias_key) > 0))
       AND ($families::text[] IS NULL OR adapter.base_model_family = ANY($families))
       AND ($health::text IS NULL OR adapter.health_status = $health)
     ORDER BY adapter.id DESC LIMIT $limit`,
});

/** The adapters of an environment, newest first: all, or those that match the search. */
export async function list(
  ctx: Ctx,
  query: z.output<typeof ListModelAdapters>,
): Promise<z.output<typeof ModelAdapterPage>> {
  const place = await requireEnvironment(ctx, query, "jobs:read");
  const { q, baseModelFamily, health, limit } = query;
  const rows = await search.all(pool, {
    projectId: place.projectId,
    environment: place.environment,
    after: readCursor("adapter", query.cursor),
    limit: limit + 1,
    q: q || null,
    key: q ? nameKey(q) : null,
    families: baseModelFamily ? await namesOfFamily(place, baseModelFamily) : null,
    health,
  });
  return toPage(rows, limit, toAdapter);
}

const listFamilies = statement("model_adapter.list.families", {
  params: { projectId: text, environment: text },
  row: { name: present(modelAdapter.base_model_family, "its condition leaves nulls out") },
  sql: `SELECT DISTINCT base_model_family AS name FROM model_adapter
     WHERE project_id = $projectId AND environment = $environment AND deleted_at IS NULL AND base_model_family IS NOT NULL`,
});

/** The names that adapters of an environment use for a family: `FLUX.1-dev` is `flux`. */
async function namesOfFamily(
  { projectId, environment }: AdapterEnvironment,
  family: string,
): Promise<string[]> {
  const rows = await listFamilies.all(pool, { projectId, environment });
  const meant = familyOfWord(family);
  return rows
    .map(({ name }) => name)
    .filter((name) => (meant ? familyOfWord(name) === meant : nameKey(name) === nameKey(family)));
}

/** One adapter. NotFound if the caller cannot see it. */
export async function get(ctx: Ctx, adapterId: string): Promise<ModelAdapter> {
  return toAdapter(await findAdapter(ctx, adapterId, "jobs:read"));
}
