import type { z } from "zod";
import type {
  AdapterQuery,
  Alias,
  AliasCreate,
  AliasPage,
  AliasPromote,
  AliasVersionPage,
  ListAdapters,
} from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, refuseCursor, toPage } from "@/server/domain/paging";
import { adapterAlias } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { int8, maybe, names, omit, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { nameKey } from "../names";
import { requireEnvironment } from "../place";
import { refuseAt } from "../rows";
import { ALIAS_VERSION, addVersion, aliasesWhere, findAlias, lockAlias, toAlias, toVersion } from "./rows";

type Where = z.output<typeof AdapterQuery>;

const insertAlias = statement("adapter_alias.insert", {
  params: omit(adapterAlias, "version_count"),
  sql: `INSERT INTO adapter_alias (id, organization_id, project_id, environment, alias, alias_key, current_version_id,
       version_count, created_at)
     VALUES ($id, $organization_id, $project_id, $environment, $alias, $alias_key, $current_version_id, 1, $created_at)
     ON CONFLICT (project_id, environment, alias_key) DO NOTHING`,
});

/** Creates an alias; its first version points to the named adapter. */
export async function createAlias(
  ctx: Ctx,
  query: { projectId?: string | undefined },
  { alias, target, environment }: AliasCreate,
): Promise<Alias> {
  const place = await requireEnvironment(ctx, { ...query, environment }, "adapters:write");
  return inTransaction(async (client) => {
    const id = newId("alias");
    const versionId = newId("aliasVersion");
    const rowCount = await insertAlias.count(client, {
      id,
      organization_id: place.project.organizationId,
      project_id: place.projectId,
      environment: place.environment,
      alias,
      alias_key: nameKey(alias),
      current_version_id: versionId,
      created_at: ctx.now(),
    });
    if (rowCount === 0)
      refuseAt(
        ["body", "alias"],
        "This environment already has an alias with this name. Promote an adapter under it instead.",
        "name_taken",
      );
    await addVersion(ctx, client, place, { id, versionId, number: 1, target });
    await record(
      ctx,
      {
        organizationId: place.project.organizationId,
        projectId: place.projectId,
        action: "adapter_alias.created",
        subject: id,
        details: { alias, environment: place.environment, adapterId: target.adapterId },
      },
      client,
    );
    return toAlias(await findAlias(client, place, alias));
  });
}

const listOfEnvironment = aliasesWhere(
  "adapter_alias.list.environment",
  { projectId: text, environment: text, after: maybe(text), limit: int8 },
  `alias.project_id = $projectId AND alias.environment = $environment AND ($after::text IS NULL OR alias.id < $after)
     ORDER BY alias.id DESC LIMIT $limit`,
);

/** The aliases of an environment, newest first, each with its current version. */
export async function listAliases(
  ctx: Ctx,
  query: z.output<typeof ListAdapters>,
): Promise<z.output<typeof AliasPage>> {
  const { projectId, environment } = await requireEnvironment(ctx, query, "jobs:read");
  const rows = await listOfEnvironment.all(pool, {
    projectId,
    environment,
    after: readCursor("alias", query.cursor),
    limit: query.limit + 1,
  });
  return toPage(rows, query.limit, toAlias);
}

/** One alias by its name, whatever its case. NotFound if the environment has none. */
export async function getAlias(ctx: Ctx, name: string, query: Where): Promise<Alias> {
  return toAlias(await findAlias(pool, await requireEnvironment(ctx, query, "jobs:read"), name));
}

const listVersions = statement("adapter_alias_version.list.alias", {
  params: { aliasId: text, after: maybe(text), limit: int8 },
  row: ALIAS_VERSION,
  sql: `SELECT ${names(ALIAS_VERSION, "version")} FROM adapter_alias_version version
     WHERE version.alias_id = $aliasId AND ($after::text IS NULL
       OR version.number < (SELECT number FROM adapter_alias_version WHERE alias_id = $aliasId AND id = $after))
     ORDER BY version.number DESC LIMIT $limit`,
});
const findVersion = statement("adapter_alias_version.find", {
  params: { aliasId: text, versionId: maybe(text) },
  sql: "SELECT FROM adapter_alias_version WHERE alias_id = $aliasId AND id = $versionId",
});

/** The versions of an alias, newest first. */
export async function aliasVersions(
  ctx: Ctx,
  name: string,
  query: z.output<typeof ListAdapters>,
): Promise<z.output<typeof AliasVersionPage>> {
  const alias = await findAlias(pool, await requireEnvironment(ctx, query, "jobs:read"), name);
  const rows = await listVersions.all(pool, {
    aliasId: alias.id,
    after: readCursor("aliasVersion", query.cursor),
    limit: query.limit + 1,
  });
  // A cursor of another alias finds no versions and is refused; the first version of this alias has none
  // after it either, but is valid.
  if (rows.length === 0 && !(await isVersionOf(alias.id, query.cursor))) refuseCursor();
  return toPage(rows, query.limit, toVersion);
}

async function isVersionOf(aliasId: string, versionId: string | undefined): Promise<boolean> {
  return (await findVersion.count(pool, { aliasId, versionId })) === 1;
}

const pointTo = statement("adapter_alias.update.current", {
  params: { aliasId: text, versionId: adapterAlias.current_version_id, number: adapterAlias.version_count },
  sql: "UPDATE adapter_alias SET current_version_id = $versionId, version_count = $number WHERE id = $aliasId",
});

/**
 * Points an alias to this adapter and weight from now on, as its next version. Promoting the current target
 * changes nothing. Concurrent promotions run one after the other, with consecutive numbers.
 */
export async function promote(
  ctx: Ctx,
  name: string,
  query: Where,
  { target }: z.output<typeof AliasPromote>,
): Promise<Alias> {
  const place = await requireEnvironment(ctx, query, "adapters:write");
  return inTransaction(async (client) => {
    await lockAlias(client, place, name);
    const alias = await findAlias(client, place, name);
    if (alias.adapter_id === target.adapterId && alias.weight === (target.weight ?? null))
      return toAlias(alias);
    const versionId = newId("aliasVersion");
    const number = alias.version_count + 1;
    await addVersion(ctx, client, place, { id: alias.id, versionId, number, target });
    await pointTo.run(client, { aliasId: alias.id, versionId, number });
    await record(
      ctx,
      {
        organizationId: place.project.organizationId,
        projectId: place.projectId,
        action: "adapter_alias.promoted",
        subject: alias.id,
        details: {
          alias: alias.alias,
          environment: place.environment,
          number,
          adapterId: target.adapterId,
          weight: target.weight ?? null,
          before: { adapterId: alias.adapter_id, weight: alias.weight },
        },
      },
      client,
    );
    return toAlias(await findAlias(client, place, name));
  });
}
