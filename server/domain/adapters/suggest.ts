import type { z } from "zod";
import type { AdapterQuery, Suggestion, SuggestionRequest } from "@/server/contract/adapters";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { type Shape, text as textColumn } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { findAliasNamed } from "./aliases/rows";
import { nameKey } from "./names";
import { type AdapterEnvironment, requireEnvironment } from "./place";
import { look, readPublic, toPreview } from "./preview";
import { ADAPTER, ADAPTER_COLUMNS, type AdapterRow, toAdapter } from "./rows";

const MOST_CHOICES = 20;
const NOTHING: Suggestion = { resolution: "not_found", patch: null, preview: null, adapter: null };

const adaptersWhere = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, {
    params: { projectId: textColumn, environment: textColumn, ...params },
    row: ADAPTER,
    sql: `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter
     WHERE adapter.project_id = $projectId AND adapter.environment = $environment AND adapter.deleted_at IS NULL
       AND ${condition} ORDER BY adapter.name_key LIMIT ${MOST_CHOICES}`,
  });
const listById = adaptersWhere(
  "model_adapter.suggest.id",
  { adapterId: textColumn },
  "adapter.id = $adapterId",
);
const listNamed = adaptersWhere(
  "model_adapter.suggest.named",
  { text: textColumn, key: textColumn },
  "(adapter.id = $text OR adapter.name_key = $key)",
);
const listLike = adaptersWhere(
  "model_adapter.suggest.like",
  { key: textColumn },
  "position($key in adapter.name_key) > 0",
);

/**
 * Interprets a name or a link for a request. An alias, id or whole display name of the environment becomes a
 * patch, as does a text that only one display name contains. If several contain it, they become a choice; a
 * public link becomes a suggestion of a registration. A catalog-only adapter is shown without a patch. Changes
 * nothing.
 */
export async function suggest(
  ctx: Ctx,
  query: z.output<typeof AdapterQuery>,
  { query: text }: z.output<typeof SuggestionRequest>,
): Promise<Suggestion> {
  const place = await requireEnvironment(ctx, query, "adapters:write");
  const own = await suggestOwn(place, text);
  if (own) return own;
  const source = readPublic(text);
  if (!source) return (await suggestLike(place, text)) ?? NOTHING;
  return { ...NOTHING, resolution: "suggestion", preview: toPreview(text, await look(ctx, source)) };
}

/** Matches an alias, an id or a whole name of the environment; null if none does. */
export async function suggestOwn(place: AdapterEnvironment, text: string): Promise<Suggestion | null> {
  const { projectId, environment } = place;
  const alias = await findAliasNamed(pool, place, text);
  if (alias) {
    const adapter = await listById.first(pool, { projectId, environment, adapterId: alias.adapter_id });
    return adapter ? toPatch(adapter, { alias: alias.alias }) : null;
  }
  const adapter = await listNamed.first(pool, { projectId, environment, text, key: nameKey(text) });
  return adapter ? toPatch(adapter) : null;
}

/**
 * Matches adapters whose name contains the text: one becomes a patch, several a choice; null if none does.
 */
export async function suggestLike(place: AdapterEnvironment, text: string): Promise<Suggestion | null> {
  const { projectId, environment } = place;
  const like = await listLike.all(pool, { projectId, environment, key: nameKey(text) });
  const [only, ...others] = like;
  if (!only) return null;
  if (others.length === 0) return toPatch(only);
  const choices = like.map((row) => ({ adapterId: row.id, displayName: row.display_name }));
  return { ...NOTHING, resolution: "choice", choices };
}

/** A catalog-only adapter is shown, but a request cannot use it. */
function toPatch(
  row: AdapterRow,
  choice: { alias?: string; adapterId?: string } = { adapterId: row.id },
): Suggestion {
  const adapter = toAdapter(row);
  return row.frozen
    ? { ...NOTHING, resolution: "patch", patch: { adapters: [choice] }, adapter }
    : { ...NOTHING, resolution: "suggestion", adapter };
}
