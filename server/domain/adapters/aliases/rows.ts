import type { z } from "zod";
import type { Alias, AliasTarget, AliasVersion } from "@/server/contract/adapters";
import type { Ctx } from "@/server/domain/ctx";
import type { Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { nameKey } from "../names";
import type { Place } from "../place";
import { refuseAt } from "../rows";
import { runnableOf, type Weights } from "../runnable";

export type VersionRow = {
  id: string;
  number: number;
  adapter_id: string;
  weight: number | null;
  created_by: string;
  created_at: Date;
};

/** An alias with its current version, and the one its recipe keeps to. */
export type AliasRow = Omit<VersionRow, "id" | "created_at"> & {
  /** The adapter of its current version. */
  weights: Weights;
  id: string;
  alias: string;
  project_id: string;
  environment: string;
  version_id: string;
  version_count: number;
  version_created_at: Date;
  created_at: Date;
  bound_version_id: string | null;
  bound_number: number | null;
  bound_at: Date | null;
};

export const ALIAS_SELECT = `SELECT alias.id, alias.alias, alias.project_id, alias.environment, alias.version_count,
    alias.created_at, version.id AS version_id, version.number, version.adapter_id, version.weight, version.created_by,
    version.created_at AS version_created_at, to_jsonb(adapter.*) AS weights,
    binding.version_id AS bound_version_id, bound.number AS bound_number, binding.bound_at
  FROM adapter_alias alias JOIN adapter_alias_version version ON version.id = alias.current_version_id
  JOIN model_adapter adapter ON adapter.id = version.adapter_id
  LEFT JOIN adapter_binding binding ON binding.alias_id = alias.id
  LEFT JOIN adapter_alias_version bound ON bound.id = binding.version_id`;

/** The alias of this name in an environment; NotFound (404) otherwise. */
export async function findAlias(database: Queryable, place: Place, name: string): Promise<AliasRow> {
  return (await findAliasNamed(database, place, name)) ?? noAlias();
}

/** The alias of this name, or null. */
export async function findAliasNamed(
  database: Queryable,
  { projectId, environment }: Place,
  name: string,
): Promise<AliasRow | null> {
  const { rows } = await database.query<AliasRow>(
    `${ALIAS_SELECT} WHERE alias.project_id = $1 AND alias.environment = $2 AND alias.alias_key = $3`,
    [projectId, environment, nameKey(name)],
  );
  return rows[0] ?? null;
}

/**
 * Locks the alias until the transaction ends. A statement of its own: joined to its version, a statement that had
 * to wait would see the alias as it is now and its versions as they were. An alias is locked before any adapter.
 */
export async function lockAlias(client: Queryable, place: Place, name: string): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM adapter_alias WHERE project_id = $1 AND environment = $2 AND alias_key = $3 FOR UPDATE",
    [place.projectId, place.environment, nameKey(name)],
  );
  if (rowCount === 0) noAlias();
}

function noAlias(): never {
  return fail("NotFound", "There is no such alias.");
}

type NewVersion = { id: string; versionId: string; number: number; target: z.output<typeof AliasTarget> };

/** Adds a version to an alias that the transaction holds. Of an adapter that is not there it is a 422. */
export async function addVersion(
  ctx: Ctx,
  client: Queryable,
  place: Place,
  { id, versionId, number, target }: NewVersion,
): Promise<void> {
  if (!(await holdAdapter(client, place, target.adapterId)))
    refuseAt(["body", "target", "adapterId"], "This environment has no such adapter.", "not_found");
  await client.query(
    `INSERT INTO adapter_alias_version (id, project_id, alias_id, number, adapter_id, weight, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      versionId,
      place.projectId,
      id,
      number,
      target.adapterId,
      target.weight ?? null,
      ctx.principal.id,
      ctx.now(),
    ],
  );
}

/** Is the adapter there? If so no one puts it away before the transaction ends. */
export async function holdAdapter(
  client: Queryable,
  { projectId, environment }: Place,
  adapterId: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM model_adapter WHERE id = $1 AND project_id = $2 AND environment = $3 AND deleted_at IS NULL FOR SHARE`,
    [adapterId, projectId, environment],
  );
  return rowCount === 1;
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
