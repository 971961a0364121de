import { hash } from "node:crypto";
import type { z } from "zod";
import { ManagementGrant } from "@/server/contract/management-keys";
import {
  type ApiKey,
  type CreateApiKey,
  type ListApiKeys,
  type NewApiKey,
  Scope,
} from "@/server/contract/organizations";
import {
  access,
  changeAccess,
  isAllowed,
  keyPrefix,
  makeKeyText,
  managerOf,
  roleIn,
  visibleOrganizations,
} from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { type Ctx, DEFAULT_SCOPES, type Scope as ScopeName } from "@/server/domain/ctx";
import { requireRoom } from "@/server/domain/plans";
import { inTransaction, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { amongOrganizations, people } from "@/server/sql/people";
import {
  countWorking,
  findOrganizationForKey,
  findProjectForKey,
  insert,
  type KeyRow,
  lock,
  lockManager,
  revoke,
  revokeMade,
} from "./key-rows";
import { lockOrganization } from "./lock";

type NewKey = Omit<z.output<typeof CreateApiKey>, "scopes"> & { scopes?: readonly ScopeName[] | undefined };

/**
 * Creates an API key, bound to a project or valid for all projects of an organization. Its text is only in
 * the answer. No one can grant a scope that their own role lacks. For members and above, and for management
 * keys in their projects; a key that a management key creates ends with it.
 */
export async function createKey(ctx: Ctx, input: NewKey): Promise<NewApiKey> {
  const apiKey = makeKeyText(input.environment);
  const now = ctx.now();
  const row = await inTransaction(async (client) => {
    const { organizationId, projectId } = await placeOf(client, ctx, input);
    access.authorize(ctx, "keys:write", { managed: { organizationId, projectId } });
    const manager = managerOf(ctx);
    const scopes: readonly ScopeName[] = input.scopes ?? manager?.management.runScopes ?? DEFAULT_SCOPES;
    refuseMoreThanOwn(ctx, organizationId, scopes);
    const { environment, name, expiresInSeconds } = input;
    await requireRoomForKey(client, organizationId, now);
    const wanted = expiresInSeconds ? new Date(now.getTime() + expiresInSeconds * 1000) : null;
    const madeByKey = manager?.id ?? null;
    const made = await insertKey(client, ctx, apiKey, {
      ...{ organizationId, projectId, environment, name, scopes, madeByKey },
      expiresAt: await endWithin(client, madeByKey, wanted, now),
      createdAt: now,
    });
    await record(
      ctx,
      { ...keyAuditSubject(made), action: "key.created", details: auditedFields(made) },
      client,
    );
    return made;
  });
  return { ...toKey(row), apiKey };
}

/**
 * Refuses a key that would exceed the organization's plan; the lock lasts until the end of the transaction. A
 * working key that was already rotated no longer counts.
 */
export async function requireRoomForKey(
  client: Transaction,
  organizationId: string,
  now: Date,
): Promise<void> {
  const { settings } = await lockOrganization(client, organizationId);
  const working = await countWorking.first(client, { organizationId, now });
  requireRoom(settings, "apiKeys", (working?.count ?? 0) + 1);
}

/**
 * The end of a new key: no later than that of the management key that creates it. The shared lock keeps the
 * management key from being revoked before the new key is written.
 */
export async function endWithin(
  client: Transaction,
  managementKeyId: string | null,
  wanted: Date | null,
  now: Date,
): Promise<Date | null> {
  if (managementKeyId === null) return wanted;
  const row = await lockManager.first(client, { keyId: managementKeyId });
  const end = row?.revoked_at ? null : row?.expires_at;
  if (!end || end <= now)
    return fail(
      "AuthenticationFailed",
      "This management key was revoked or has expired. Ask an owner for another.",
    );
  return wanted && wanted < end ? wanted : end;
}

type Wanted = Pick<
  KeyRow,
  "organizationId" | "projectId" | "environment" | "name" | "expiresAt" | "createdAt" | "madeByKey"
> & { scopes: readonly string[]; management?: ManagementGrant };

/** Writes the row of a new key, which stores only the hash of its text. */
export async function insertKey(
  client: Transaction,
  ctx: Ctx,
  apiKey: string,
  wanted: Wanted,
): Promise<KeyRow> {
  const row = await insert.first(client, {
    ...wanted,
    scopes: [...new Set(wanted.scopes)],
    id: newId("key"),
    prefix: keyPrefix(apiKey),
    hash: hash("sha256", apiKey, "buffer"),
    createdBy: personOf(ctx),
  });
  return row!; // INSERT … RETURNING of one row
}

/** The creator of a key: the person who asks, or the creator of the management key that asks. */
const personOf = (ctx: Ctx) =>
  ctx.principal.kind === "human_session" ? ctx.principal.id : (managerOf(ctx)?.userId ?? null);

/** Tenant and key of an audit entry. */
export const keyAuditSubject = ({ id, organizationId, projectId }: KeyRow) => ({
  organizationId,
  projectId,
  subject: id,
});

/** Fields of a key that an audit entry shows. */
export const auditedFields = ({ name, prefix, environment, scopes, expiresAt }: KeyRow) => ({
  name,
  prefix,
  environment,
  scopes,
  expiresAt: expiresAt?.toISOString() ?? null,
});

/** Refuses scopes that the caller cannot grant: beyond their role, or beyond the management key's grant. */
export function refuseMoreThanOwn(ctx: Ctx, organizationId: string, scopes: readonly ScopeName[]): void {
  const manager = managerOf(ctx);
  if (manager) {
    const allowed: readonly ScopeName[] = manager.management.runScopes;
    const beyond = scopes.filter((scope) => !allowed.includes(scope));
    if (beyond.length === 0) return;
    fail(
      "AuthorizationFailed",
      `This management key cannot grant these scopes: ${beyond.join(", ")}. It can grant: ${allowed.join(", ")}.`,
      { scopes: beyond, allowed: [...allowed] },
    );
  }
  const role = access.authorize(ctx, "member", { organizationId });
  const beyond = scopes.filter((scope) => !isAllowed(role, scope));
  if (beyond.length === 0) return;
  fail(
    "AuthorizationFailed",
    `Your role cannot grant these scopes: ${beyond.join(", ")}. Remove them, or ask an admin to create the key.`,
    { scopes: beyond },
  );
}

/**
 * The organization and project of a new key. The caller must be able to manage keys in the project, and the
 * project must have the environment.
 */
async function placeOf(
  client: Transaction,
  ctx: Ctx,
  input: NewKey,
): Promise<{ organizationId: string; projectId: string | null }> {
  if (!input.projectId) {
    const row = await findOrganizationForKey.first(client, { organizationId: input.organizationId ?? "" });
    return { organizationId: row?.id ?? fail("NotFound", "There is no such organization."), projectId: null };
  }
  const row = await findProjectForKey.first(client, {
    projectId: input.projectId,
    environment: input.environment,
  });
  if (!row) return fail("NotFound", "There is no such project.");
  access.authorize(ctx, "keys:write", {
    managed: { organizationId: row.organization_id, projectId: row.id },
  });
  if (row.status !== "active")
    fail("InvalidInput", "This project is archived. Restore it before you create a key for it.");
  if (!row.is_known)
    fail(
      "InvalidInput",
      `The project has no environment ${input.environment}. Create it first, or choose another.`,
    );
  return { organizationId: row.organization_id, projectId: row.id };
}

/**
 * Keys of the caller's organizations, or those that the calling management key created, newest first; never
 * their texts.
 */
export async function listKeys(
  ctx: Ctx,
  { projectId, organizationId, includeRevoked }: z.output<typeof ListApiKeys>,
): Promise<ApiKey[]> {
  const manager = managerOf(ctx);
  const visible = visibleOrganizations(ctx);
  const own = manager ? { madeByKey: manager.id } : { organizationId: amongOrganizations(visible) };
  const rows = await people.apiKey.findMany({
    where: {
      AND: [own, organizationId ? { organizationId } : {}],
      ...(projectId ? { projectId } : {}),
      ...(includeRevoked ? {} : { revokedAt: null }),
    },
    omit: { hash: true },
    orderBy: { id: "desc" },
  });
  return rows.map(toKey);
}

/**
 * Keys that work in a project, newest first: those bound to it and those valid for every project of its
 * organization, including revoked ones.
 */
export async function listKeysOfProject(ctx: Ctx, projectId: string): Promise<ApiKey[]> {
  const { organizationId } = await access.authorize(ctx, "jobs:read", { projectId });
  const rows = await people.apiKey.findMany({
    where: { organizationId, OR: [{ projectId: null }, { projectId }] },
    omit: { hash: true },
    orderBy: { id: "desc" },
  });
  return rows.map(toKey);
}

/**
 * Revokes a key and every key that it created as a management key: after this returns, no request anywhere is
 * served by them. Repeating it changes nothing. For members and above, for the key itself and for the
 * management key that created it; NotFound for a foreign key.
 */
export async function revokeKey(ctx: Ctx, keyId: string): Promise<ApiKey> {
  return changeAccess(async (client) => {
    const known = await lockKey(client, ctx, keyId);
    if (known.revokedAt) return toKey(known);
    const now = ctx.now();
    const row = (await revoke.first(client, { keyId, now }))!; // locked above
    const made = await revokeMade.all(client, { keyId, now });
    const details = {
      ...auditedFields(row),
      ...(row.management ? { alsoRevoked: made.map(({ id }) => id) } : {}),
    };
    await record(ctx, { ...keyAuditSubject(row), action: "key.revoked", details }, client);
    return toKey(row);
  });
}

/** Locks a key that the caller may change until the end of the transaction. */
export async function lockKey(client: Transaction, ctx: Ctx, keyId: string): Promise<KeyRow> {
  const row = await lock.first(client, { keyId });
  const isItself = ctx.principal.kind === "service_principal" && ctx.principal.id === keyId;
  const manager = managerOf(ctx);
  const isMade = manager !== null && row?.madeByKey === manager.id;
  if (!row || !(isItself || isMade || roleIn(ctx, row.organizationId)))
    return fail("NotFound", "There is no such key.");
  if (isMade) access.authorize(ctx, "keys:write");
  else if (!isItself) access.authorize(ctx, "member", { organizationId: row.organizationId });
  return row;
}

export function toKey(row: KeyRow): ApiKey {
  return {
    keyId: row.id,
    name: row.name,
    prefix: row.prefix,
    organizationId: row.organizationId,
    projectId: row.projectId,
    environment: row.environment,
    scopes: Scope.options.filter((scope) => row.scopes.includes(scope)),
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    revoked: row.revokedAt !== null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    replacedBy: row.replacedBy,
    management: row.management ? ManagementGrant.parse(row.management) : null,
    madeByKey: row.madeByKey,
  };
}
