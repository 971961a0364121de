import type { z } from "zod";
import type { Alias, AliasTarget, AliasVersion } from "@/server/contract/adapters";
import type { Ctx } from "@/server/domain/ctx";
import { adapterAlias, adapterAliasVersion, adapterBinding } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { jsonb, maybe, names, type Of, pick, type Shape, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { nameKey } from "../names";
import type { AdapterEnvironment } from "../place";
import { refuseAt } from "../rows";
import { runnableOf, type Weights } from "../runnable";

export const ALIAS_VERSION = pick(adapterAliasVersion, "id number adapter_id weight created_by created_at");
type VersionRow = Of<typeof ALIAS_VERSION>;

const OWN = pick(adapterAlias, "id alias project_id environment version_count created_at");
const CURRENT = pick(adapterAliasVersion, "number adapter_id weight created_by");
/** An alias with its current version, and the version that its recipe is bound to. */
const ALIAS = {
  ...OWN,
  ...CURRENT,
  version_id: adapterAliasVersion.id,
  version_created_at: adapterAliasVersion.created_at,
  /** The adapter row of the current version. */
  weights: jsonb<Weights>(),
  bound_version_id: maybe(adapterBinding.version_id),
  bound_number: maybe(adapterAliasVersion.number),
  bound_at: maybe(adapterBinding.bound_at),
};
type AliasRow = Of<typeof ALIAS>;

const ALIAS_SELECT = `SELECT ${names(OWN, "alias")}, ${names(CURRENT, "version")}, version.id AS version_id,
    version.created_at AS version_created_at, to_jsonb(adapter.*) AS weights,
    binding.version_id AS bound_version_id, bound.number AS bound_number, binding.bound_at
  FROM adapter_alias alias JOIN adapter_alias_version version ON version.id = alias.current_version_id
  JOIN model_adapter adapter ON adapter.id = version.adapter_id
  LEFT JOIN adapter_binding binding ON binding.alias_id = alias.id
  LEFT JOIN adapter_alias_version bound ON bound.id = binding.version_id`;

/** Builds a statement that reads aliases by a condition. */
export const aliasesWhere = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, { params, row: ALIAS, sql: `${ALIAS_SELECT} WHERE ${condition}` });

const NAMED = { projectId: text, environment: text, key: text };
const readNamed = aliasesWhere(
  "adapter_alias.read.named",
  NAMED,
  "alias.project_id = $projectId AND alias.environment = $environment AND alias.alias_key = $key",
);

/** The alias of this name in an environment; NotFound (404) if there is none. */
export async function findAlias(
  database: Queryable,
  place: AdapterEnvironment,
  name: string,
): Promise<AliasRow> {
  return (await findAliasNamed(database, place, name)) ?? noAlias();
}

/** The alias of this name; null if there is none. */
export function findAliasNamed(
  database: Queryable,
  { projectId, environment }: AdapterEnvironment,
  name: string,
): Promise<AliasRow | null> {
  return readNamed.first(database, { projectId, environment, key: nameKey(name) });
}

const lockNamed = statement("adapter_alias.lock.named", {
  params: NAMED,
  sql: `SELECT FROM adapter_alias
    WHERE project_id = $projectId AND environment = $environment AND alias_key = $key FOR UPDATE`,
});

/**
 * Locks the alias until the transaction ends; NotFound if there is none. This is a separate statement: one that
 * joined the versions and had to wait would see the new alias with its old versions. An alias is locked before
 * any adapter.
 */
export async function lockAlias(client: Queryable, place: AdapterEnvironment, name: string): Promise<void> {
  const { projectId, environment } = place;
  if ((await lockNamed.count(client, { projectId, environment, key: nameKey(name) })) === 0) noAlias();
}

function noAlias(): never {
  return fail("NotFound", "There is no such alias.");
}

type NewVersion = { id: string; versionId: string; number: number; target: z.output<typeof AliasTarget> };

const insertVersion = statement("adapter_alias_version.insert", {
  params: adapterAliasVersion,
  sql: `INSERT INTO adapter_alias_version (id, project_id, alias_id, number, adapter_id, weight, created_by, created_at)
     VALUES ($id, $project_id, $alias_id, $number, $adapter_id, $weight, $created_by, $created_at)`,
});

/** Adds a version to an alias that the transaction has locked. 422 if the adapter does not exist. */
export async function addVersion(
  ctx: Ctx,
  client: Queryable,
  place: AdapterEnvironment,
  { id, versionId, number, target }: NewVersion,
): Promise<void> {
  if (!(await holdAdapter(client, place, target.adapterId)))
    refuseAt(["body", "target", "adapterId"], "This environment has no such adapter.", "not_found");
  await insertVersion.run(client, {
    id: versionId,
    project_id: place.projectId,
    alias_id: id,
    number,
    adapter_id: target.adapterId,
    weight: target.weight,
    created_by: ctx.principal.id,
    created_at: ctx.now(),
  });
}

const shareAdapter = statement("model_adapter.lock.shared", {
  params: { adapterId: text, projectId: text, environment: text },
  sql: `SELECT FROM model_adapter
    WHERE id = $adapterId AND project_id = $projectId AND environment = $environment AND deleted_at IS NULL FOR SHARE`,
});

/** True if the adapter exists; the lock then prevents its deletion before the transaction ends. */
export async function holdAdapter(
  client: Queryable,
  { projectId, environment }: AdapterEnvironment,
  adapterId: string,
): Promise<boolean> {
  return (await shareAdapter.count(client, { adapterId, projectId, environment })) === 1;
}

export function toVersion(row: VersionRow): AliasVersion {
  return {
    versionId: row.id,
    number: row.number,
    target: { adapterId: row.adapter_id, weight: row.weight },
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
  };
}

export function toAlias(row: AliasRow): Alias {
  const { bound_version_id: versionId, bound_number: number, bound_at: boundAt } = row;
  return {
    aliasId: row.id,
    alias: row.alias,
    projectId: row.project_id,
    environment: row.environment,
    current: toVersion({ ...row, id: row.version_id, created_at: row.version_created_at }),
    versionCount: row.version_count,
    binding: versionId && number && boundAt ? { versionId, number, boundAt: boundAt.toISOString() } : null,
    ...runnableOf(row.weights),
    createdAt: row.created_at.toISOString(),
  };
}
