import { type AdapterChoice, MOST_ADAPTERS } from "@/server/contract/adapters";
import { getCapability, modelIds, sandboxSource, type Target, targetsOfPort } from "@/server/domain/catalog";
import { adapterAlias, adapterAliasVersion, modelAdapter } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { ValidationFault, type ValidationIssue } from "@/server/platform/errors/errors";
import { names, type Of, pick, type Shape, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { unreachableFor } from "./addresses";
import { defaultsOf } from "./aliases/default-aliases";
import { nameKey } from "./names";
import type { ResolvedAdapter } from "./rows";
import { adapterFamilyOf, fits, obstacleOf } from "./runnable";

export type Resolved = {
  adapters: ResolvedAdapter[];
  /** True if the request named none and these are the project's default. */
  isDefault: boolean;
  /** The models that may run the request; null if no adapter limits them. */
  only: {
    /** `provider/model` of every model that supports all of them and can fetch them. */
    models: string[];
    /** The reason that excludes all other models, in whole sentences. */
    because: string;
  } | null;
};

/** For an execution without adapters. */
export const NO_ADAPTERS: Resolved = { adapters: [], isDefault: false, only: null };

type Place = { projectId: string; environment: string };

const ALIASED = {
  ...pick(adapterAlias, "alias alias_key"),
  version_id: adapterAliasVersion.id,
  number: adapterAliasVersion.number,
  version_weight: adapterAliasVersion.weight,
};
type Aliased = Of<typeof ALIASED>;
/** An adapter with the alias and version that named it; these are null if its id named it. */
type Found = Of<typeof modelAdapter> & { [Name in keyof Aliased]: Aliased[Name] | null };

/**
 * Resolves the adapters of a request: each has bytes that do not change, and a weight: the chosen one, else
 * the alias version's, else the recommended one, else 1. A request without a list uses the project's default;
 * an empty list uses none. An unusable adapter is a 422 at its place.
 */
export async function resolveAdapters(
  place: Place,
  choices: AdapterChoice[] | undefined,
  capabilityKey: string,
): Promise<Resolved> {
  if (choices && choices.length > MOST_ADAPTERS)
    refuse([{ at: [], msg: `At most ${MOST_ADAPTERS} adapters.`, type: "too_long" }]);
  const wanted = choices ? await chosen(place, choices) : await byDefault(place, capabilityKey);
  if (wanted.length === 0) return NO_ADAPTERS;

  const targets = targetsOfPort(getCapability(capabilityKey));
  refuse(wanted.flatMap((each, position) => problemOf(each, wanted.slice(0, position), targets) ?? []));
  const rows = wanted.flatMap(({ found }) => found ?? []);
  const together = targets.filter(
    (target) =>
      rows.every((row) => fits(row, target)) && rows.length <= (target.model.mostAdapters ?? MOST_ADAPTERS),
  );
  const families = new Set(rows.map(adapterFamilyOf).filter((family) => family !== null));
  // A model that supports both families supports only one at a time.
  if (together.length === 0 || families.size > 1)
    refuse([
      {
        at: [],
        msg: "No model supports all of these adapters together. Use fewer, or adapters for the same base model.",
        type: "incompatible",
      },
    ]);
  const cut = together.flatMap(({ provider }) =>
    rows.flatMap(({ source_kind }) => unreachableFor(provider, source_kind) ?? []),
  );
  const isCutOff = ({ provider }: Target) =>
    rows.some(({ source_kind }) => unreachableFor(provider, source_kind) !== null);
  return {
    adapters: wanted.flatMap(({ found, weight }) => (found ? [toResolved(found, weight)] : [])),
    isDefault: !choices,
    only: {
      models: modelIds(together.filter((target) => !isCutOff(target))),
      because: because(rows, !choices, [...new Set(cut)]),
    },
  };
}

function because(rows: Found[], isDefault: boolean, cut: string[]): string {
  const names = rows.map((row) => JSON.stringify(row.alias ?? row.display_name)).join(", ");
  const what = rows.length === 1 ? `the adapter ${names}` : `the adapters ${names} together`;
  return [
    isDefault
      ? `The project's default is ${what}, so only models that support it can run this. Send an empty list of adapters to run without it.`
      : `Only models that support ${what} can run this.`,
    ...cut.map(
      (origin) =>
        `Providers cannot download weights from ${origin}, which is a private address. Serve this installation at a public address.`,
    ),
  ].join(" ");
}

type Wanted = {
  found: Found | undefined;
  weight: number | undefined;
  /** Its place in the request, below `adapters`. */
  at: (string | number)[];
  what: string;
};
type Problem = { at: (string | number)[]; msg: string; type: string };

const versionsWhere = <P extends Shape>(
  name: string,
  { params, version, condition }: { params: P; version: string; condition: string },
) =>
  statement(name, {
    params: { projectId: text, environment: text, ...params },
    row: { ...modelAdapter, ...ALIASED },
    sql: `SELECT ${names(modelAdapter, "adapter")}, alias.alias, alias.alias_key, version.id AS version_id, version.number,
       version.weight AS version_weight
     FROM adapter_alias alias JOIN adapter_alias_version version ON version.id = ${version}
     JOIN model_adapter adapter ON adapter.id = version.adapter_id
     WHERE alias.project_id = $projectId AND alias.environment = $environment AND ${condition}`,
  });
const listCurrent = versionsWhere("model_adapter.list.aliased", {
  params: { keys: texts },
  version: "alias.current_version_id",
  condition: "alias.alias_key = ANY($keys)",
});
const readBound = versionsWhere("model_adapter.read.default", {
  params: { aliasId: text },
  version:
    "coalesce((SELECT version_id FROM adapter_binding WHERE alias_id = alias.id), alias.current_version_id)",
  condition: "alias.id = $aliasId",
});

async function chosen(place: Place, choices: AdapterChoice[]): Promise<Wanted[]> {
  const keys = choices.flatMap(({ alias }) => (alias === undefined ? [] : [nameKey(alias)]));
  const ids = choices.flatMap(({ adapterId }) => adapterId ?? []);
  const { projectId, environment } = place;
  const [aliased, named] = await Promise.all([
    keys.length === 0 ? [] : listCurrent.all(pool, { projectId, environment, keys }),
    ids.length === 0 ? [] : byId(place, ids),
  ]);
  return choices.map(({ alias, adapterId, weight }, position) =>
    alias === undefined
      ? {
          found: named.find(({ id }) => id === adapterId),
          weight,
          at: [position, "adapterId"],
          what: "adapter",
        }
      : {
          found: aliased.find(({ alias_key }) => alias_key === nameKey(alias)),
          weight,
          at: [position, "alias"],
          what: "alias",
        },
  );
}

/** Uses the version that the recipe is bound to, else the alias's current one. */
async function byDefault(place: Place, capabilityKey: string): Promise<Wanted[]> {
  const aliasId = (await defaultsOf(place)).get(capabilityKey);
  if (!aliasId) return [];
  const { projectId, environment } = place;
  const rows = await readBound.all(pool, { projectId, environment, aliasId });
  return rows.map((found) => ({ found, weight: undefined, at: [], what: "alias" }));
}

const listById = statement("model_adapter.list.named", {
  params: { projectId: text, environment: text, ids: texts },
  row: modelAdapter,
  sql: `SELECT ${names(modelAdapter)} FROM model_adapter
    WHERE project_id = $projectId AND environment = $environment AND id = ANY($ids)`,
});

async function byId({ projectId, environment }: Place, ids: string[]): Promise<Found[]> {
  const none = { alias: null, alias_key: null, version_id: null, number: null, version_weight: null };
  const rows = await listById.all(pool, { projectId, environment, ids });
  return rows.map((row) => ({ ...row, ...none }));
}

/** The issue of an adapter that does not exist or is foreign. */
export const noSuchAdapter = (what: string) => ({
  msg: `This environment has no such ${what}.`,
  type: "not_found",
});

function problemOf(
  { found, at, what }: Wanted,
  before: Wanted[],
  targets: readonly Target[],
): Problem | null {
  if (!found || found.deleted_at) {
    const { msg, type } = noSuchAdapter(what);
    return { at, msg: `${msg} POST /v1/adapters registers weights.${sandboxSource()}`, type };
  }
  if (before.some((other) => other.found?.id === found.id))
    return {
      at,
      msg: `The adapter ${JSON.stringify(found.display_name)} is listed twice.`,
      type: "repeated",
    };
  const obstacle = obstacleOf(found, targets);
  return obstacle && { at, msg: obstacle.message, type: obstacle.code };
}

function toResolved(row: Found, weight: number | undefined): ResolvedAdapter {
  const { alias, version_id: versionId, number } = row;
  return {
    adapterId: row.id,
    displayName: row.display_name,
    alias:
      alias !== null && versionId !== null && number !== null ? { name: alias, versionId, number } : null,
    weight: weight ?? row.version_weight ?? row.recommended_weight ?? 1,
    triggerWords: row.trigger_words,
    source: {
      kind: row.source_kind,
      ref: row.source_ref,
      revision: row.source_revision,
      filePath: row.file_path,
      provider: row.provider,
    },
    sha256: row.sha256,
    artifactId: row.artifact_id,
  };
}

function refuse(problems: Problem[]): void {
  if (problems.length === 0) return;
  throw new ValidationFault(
    problems.map(
      ({ at, msg, type }): ValidationIssue => ({ loc: ["body", "input", "adapters", ...at], msg, type }),
    ),
  );
}
