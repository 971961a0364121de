import type { z } from "zod";
import type { AdapterDefault, AdapterDefaultSet, AdapterQuery } from "@/server/contract/adapters";
import { changeAccessBy } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { pool, type Queryable, type Transaction } from "@/server/platform/db";
import { type Place, placeOf } from "../place";
import { refuseAt } from "../rows";
import { findAliasNamed } from "./rows";

type Where = z.output<typeof AdapterQuery>;

/** The alias that executions of a capability use where they name no adapters; with nulls where none is set. */
export async function getDefault(ctx: Ctx, capabilityKey: string, query: Where): Promise<AdapterDefault> {
  const place = await placeFor(ctx, capabilityKey, query, "jobs:read");
  return read(pool, place, capabilityKey);
}

/** Sets it, for every process at once: each remembers which there are. Executions that were admitted before keep what they were admitted with. */
export async function setDefault(
  ctx: Ctx,
  capabilityKey: string,
  query: Where,
  { alias: name }: z.output<typeof AdapterDefaultSet>,
): Promise<AdapterDefault> {
  const place = await placeFor(ctx, capabilityKey, query, "adapters:write");
  const alias = await findAliasNamed(pool, place, name); // aliases are never deleted
  if (!alias) refuseAt(["body", "alias"], "This environment has no such alias.", "not_found");
  return changeAccessBy(async (client) => {
    await client.query(
      `INSERT INTO adapter_default (project_id, environment, capability_key, alias_id, set_by, set_at)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (project_id, environment, capability_key) DO UPDATE SET alias_id = $4, set_by = $5, set_at = $6`,
      [place.projectId, place.environment, capabilityKey, alias.id, ctx.principal.id, ctx.now()],
    );
    await note(ctx, client, place, { action: "adapter_default.set", capabilityKey, alias: alias.alias });
    return read(client, place, capabilityKey);
  });
}

/** Clears it; where none was set nothing changes. */
export async function clearDefault(ctx: Ctx, capabilityKey: string, query: Where): Promise<AdapterDefault> {
  const place = await placeFor(ctx, capabilityKey, query, "adapters:write");
  return changeAccessBy(async (client) => {
    const { rowCount } = await client.query(
      "DELETE FROM adapter_default WHERE project_id = $1 AND environment = $2 AND capability_key = $3",
      [place.projectId, place.environment, capabilityKey],
    );
    if (rowCount) await note(ctx, client, place, { action: "adapter_default.cleared", capabilityKey });
    return read(client, place, capabilityKey);
  });
}

async function placeFor(ctx: Ctx, capabilityKey: string, query: Where, right: Scope): Promise<Place> {
  const place = await placeOf(ctx, query, right);
  const capability = getCapability(capabilityKey);
  if (!capability.adapters)
    refuseAt(["path", "capability_key"], `${capability.key} does not support adapters.`, "value_error");
  return place;
}

async function read(database: Queryable, place: Place, capabilityKey: string): Promise<AdapterDefault> {
  const { rows } = await database.query<{ alias: string; set_at: Date }>(
    `SELECT alias.alias, chosen.set_at FROM adapter_default chosen JOIN adapter_alias alias ON alias.id = chosen.alias_id
     WHERE chosen.project_id = $1 AND chosen.environment = $2 AND chosen.capability_key = $3`,
    [place.projectId, place.environment, capabilityKey],
  );
  return {
    capabilityKey,
    alias: rows[0]?.alias ?? null,
    environment: place.environment,
    setAt: rows[0]?.set_at.toISOString() ?? null,
  };
}

function note(
  ctx: Ctx,
  client: Transaction,
  { project, projectId, environment }: Place,
  { action, capabilityKey, ...details }: { action: string; capabilityKey: string; alias?: string },
): Promise<void> {
  const { organizationId } = project;
  return record(
    ctx,
    { organizationId, projectId, action, subject: capabilityKey, details: { environment, ...details } },
    client,
  );
}
