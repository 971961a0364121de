import type { z } from "zod";
import type { AdapterDefault, AdapterDefaultSet, AdapterQuery } from "@/server/contract/adapters";
import { changeAccess } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { adapterAlias, adapterDefault } from "@/server/generated/schema";
import { pool, type Queryable, type Transaction } from "@/server/platform/db";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type AdapterEnvironment, requireEnvironment } from "../place";
import { refuseAt } from "../rows";
import { findAliasNamed } from "./rows";

type Where = z.output<typeof AdapterQuery>;

/** The alias that executions of a capability use if they name no adapters; its name is null if none is set. */
export async function getDefault(ctx: Ctx, capabilityKey: string, query: Where): Promise<AdapterDefault> {
  const place = await placeFor(ctx, capabilityKey, query, "jobs:read");
  return read(pool, place, capabilityKey);
}

const saveDefault = statement("adapter_default.save", {
  params: adapterDefault,
  sql: `INSERT INTO adapter_default (project_id, environment, capability_key, alias_id, set_by, set_at)
     VALUES ($project_id, $environment, $capability_key, $alias_id, $set_by, $set_at)
     ON CONFLICT (project_id, environment, capability_key)
       DO UPDATE SET alias_id = $alias_id, set_by = $set_by, set_at = $set_at`,
});
const ONE = { projectId: text, environment: text, capabilityKey: text };
const deleteDefault = statement("adapter_default.delete", {
  params: ONE,
  sql: `DELETE FROM adapter_default
    WHERE project_id = $projectId AND environment = $environment AND capability_key = $capabilityKey`,
});

/**
 * Sets the default alias, and returns when no process uses the old one from its cache. Executions that were
 * admitted before keep their adapters.
 */
export async function setDefault(
  ctx: Ctx,
  capabilityKey: string,
  query: Where,
  { alias: name }: z.output<typeof AdapterDefaultSet>,
): Promise<AdapterDefault> {
  const place = await placeFor(ctx, capabilityKey, query, "adapters:write");
  const alias = await findAliasNamed(pool, place, name); // aliases are never deleted
  if (!alias) refuseAt(["body", "alias"], "This environment has no such alias.", "not_found");
  return changeAccess(async (client) => {
    await saveDefault.run(client, {
      project_id: place.projectId,
      environment: place.environment,
      capability_key: capabilityKey,
      alias_id: alias.id,
      set_by: ctx.principal.id,
      set_at: ctx.now(),
    });
    await note(ctx, client, place, { action: "adapter_default.set", capabilityKey, alias: alias.alias });
    return read(client, place, capabilityKey);
  });
}

/** Clears the default; changes nothing if none is set. */
export async function clearDefault(ctx: Ctx, capabilityKey: string, query: Where): Promise<AdapterDefault> {
  const place = await placeFor(ctx, capabilityKey, query, "adapters:write");
  return changeAccess(async (client) => {
    const { projectId, environment } = place;
    if (await deleteDefault.count(client, { projectId, environment, capabilityKey }))
      await note(ctx, client, place, { action: "adapter_default.cleared", capabilityKey });
    return read(client, place, capabilityKey);
  });
}

async function placeFor(
  ctx: Ctx,
  capabilityKey: string,
  query: Where,
  right: Scope,
): Promise<AdapterEnvironment> {
  const place = await requireEnvironment(ctx, query, right);
  const capability = getCapability(capabilityKey);
  if (!capability.adapters)
    refuseAt(["path", "capability_key"], `${capability.key} does not support adapters.`, "value_error");
  return place;
}

const readDefault = statement("adapter_default.read", {
  params: ONE,
  row: { alias: adapterAlias.alias, set_at: adapterDefault.set_at },
  sql: `SELECT alias.alias, chosen.set_at FROM adapter_default chosen JOIN adapter_alias alias ON alias.id = chosen.alias_id
     WHERE chosen.project_id = $projectId AND chosen.environment = $environment AND chosen.capability_key = $capabilityKey`,
});

async function read(
  database: Queryable,
  place: AdapterEnvironment,
  capabilityKey: string,
): Promise<AdapterDefault> {
  const { projectId, environment } = place;
  const row = await readDefault.first(database, { projectId, environment, capabilityKey });
  return {
    capabilityKey,
    alias: row?.alias ?? null,
    environment,
    setAt: row?.set_at.toISOString() ?? null,
  };
}

function note(
  ctx: Ctx,
  client: Transaction,
  { project, projectId, environment }: AdapterEnvironment,
  { action, capabilityKey, ...details }: { action: string; capabilityKey: string; alias?: string },
): Promise<void> {
  const { organizationId } = project;
  return record(
    ctx,
    { organizationId, projectId, action, subject: capabilityKey, details: { environment, ...details } },
    client,
  );
}
