import type { z } from "zod";
import type {
  AdapterUse,
  AliasesShown,
  AliasHistory,
  AliasShown,
  ListAdapters,
} from "@/server/contract/adapters";
import { allCapabilities } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { principalNames } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { ValidationFault } from "@/server/platform/errors/errors";
import { texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { aliasVersions, getAlias, listAliases } from "./aliases/aliases";
import { resolveAdapters } from "./resolve";
import { ADAPTER, ADAPTER_COLUMNS, type AdapterRow, findAdapter, toAdapter } from "./rows";

type Query = z.output<typeof ListAdapters>;
type Where = Pick<Query, "projectId" | "environment">;

/** The aliases of an environment, newest first, each with the adapter it points to. */
export async function showAliases(ctx: Ctx, query: Query): Promise<z.output<typeof AliasesShown>> {
  const { items, ...page } = await listAliases(ctx, query);
  const rows = await adaptersById(items.map(({ current }) => current.target.adapterId));
  return { ...page, items: items.flatMap((alias) => withAdapter(alias, rows) ?? []) };
}

/** One alias with the adapter it points to. */
export async function showAlias(ctx: Ctx, name: string, query: Where): Promise<AliasShown> {
  const alias = await getAlias(ctx, name, query);
  const shown = withAdapter(alias, await adaptersById([alias.current.target.adapterId]));
  if (!shown) throw new Error(`the alias ${alias.aliasId} points to no adapter`);
  return shown;
}

function withAdapter(alias: Omit<AliasShown, "adapter">, rows: Map<string, AdapterRow>): AliasShown | null {
  const row = rows.get(alias.current.target.adapterId);
  return row ? { ...alias, adapter: toAdapter(row) } : null;
}

/**
 * The versions of an alias, newest first, with their adapters, even deleted ones, and the names of those who
 * promoted them.
 */
export async function aliasHistory(
  ctx: Ctx,
  name: string,
  query: Query,
): Promise<z.output<typeof AliasHistory>> {
  const { items, ...page } = await aliasVersions(ctx, name, query);
  const [rows, names] = await Promise.all([
    adaptersById(items.map(({ target }) => target.adapterId)),
    principalNames(items.map(({ createdBy }) => createdBy)),
  ]);
  return {
    ...page,
    items: items.flatMap((version) => {
      const row = rows.get(version.target.adapterId);
      if (!row) return [];
      return {
        ...version,
        adapter: toAdapter(row),
        isAdapterDeleted: row.deleted_at !== null,
        createdByName: names.get(version.createdBy) ?? null,
      };
    }),
  };
}

const listById = statement("model_adapter.list.ids", {
  params: { ids: texts },
  row: ADAPTER,
  sql: `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter WHERE adapter.id = ANY($ids)`,
});

/**
 * Includes deleted adapters: a version keeps its adapter's row. Anyone who may see the version may see the
 * row.
 */
async function adaptersById(ids: string[]): Promise<Map<string, AdapterRow>> {
  const rows = await listById.all(pool, { ids: [...new Set(ids)] });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Uses of an adapter: for each capability that takes adapters its models, or why it has none. */
export async function usesOf(ctx: Ctx, adapterId: string): Promise<AdapterUse[]> {
  const row = await findAdapter(ctx, adapterId, "jobs:read");
  const place = { projectId: row.project_id, environment: row.environment };
  return Promise.all(
    takers().map(async ({ key: capabilityKey, title }) => {
      try {
        const { only } = await resolveAdapters(place, [{ adapterId }], capabilityKey);
        const models = only?.models ?? [];
        return { capabilityKey, title, models, problem: models.length > 0 ? null : (only?.because ?? null) };
      } catch (error) {
        if (!(error instanceof ValidationFault)) throw error;
        return { capabilityKey, title, models: [], problem: error.issues[0]?.msg ?? error.message };
      }
    }),
  );
}

/** The capabilities that take adapters, by key. */
export function takers(): { key: string; title: string }[] {
  return allCapabilities
    .filter(({ adapters }) => adapters !== undefined)
    .map(({ key, title }) => ({ key, title }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}
