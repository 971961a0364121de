import { hash } from "node:crypto";
import type { z } from "zod";
import {
  type ApiKey,
  type CreateApiKey,
  type ListApiKeys,
  type NewApiKey,
  Scope,
} from "@/server/contract/organizations";
import { type Tx, withSystem } from "@/server/db";
import {
  access,
  changeAccess,
  isAllowed,
  keyPrefix,
  makeKeyText,
  roleIn,
  visibleOrganizations,
} from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { type Ctx, DEFAULT_SCOPES, type Role, type Scope as ScopeName } from "@/server/domain/ctx";
import { requireRoom } from "@/server/domain/plans";
import { fail } from "@/server/errors";
import { newId } from "@/server/ids";
import { lockOrganization } from "./lock";

/**
 * Makes an API key, bound to a project or open to all projects of an organization. Its text is in the answer and
 * nowhere else. Nobody can give a key a scope their own role does not carry. For members and above.
 */
export async function createKey(ctx: Ctx, input: z.output<typeof CreateApiKey>): Promise<NewApiKey> {
  const apiKey = makeKeyText(input.environment);
  const now = ctx.now();
  const row = await withSystem(async (tx) => {
    const { organizationId, projectId } = await placeOf(tx, ctx, input);
    const role = access.authorize(ctx, "member", { organizationId });
    const scopes = input.scopes ?? [...DEFAULT_SCOPES];
    refuseMoreThanOwn(role, scopes);
    const { environment, name, expiresInSeconds } = input;
    const place = { organizationId, projectId, environment };
    const { settings } = await lockOrganization(tx, organizationId);
    requireRoom(settings, "apiKeys", (await countKeys(tx, organizationId, now)) + 1);
    const expiresAt = expiresInSeconds ? new Date(now.getTime() + expiresInSeconds * 1000) : null;
    const made = await insertKey(tx, ctx, apiKey, { ...place, name, scopes, expiresAt, createdAt: now });
    await record(ctx, { ...actOn(made), action: "key.created", details: shownOf(made) }, tx);
    return made;
  });
  return { ...toKey(row), apiKey };
}

/** Working keys; one whose successor is made already counts no more. */
const countKeys = (tx: Tx, organizationId: string, now: Date) =>
  tx.apiKey.count({
    where: {
      organizationId,
      revokedAt: null,
      replacedBy: null,
      OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
    },
  });

type Wanted = Pick<
  KeyRow,
  "organizationId" | "projectId" | "environment" | "name" | "scopes" | "expiresAt" | "createdAt"
>;

/** Writes the row of a new key; of its text the hash alone. */
export function insertKey(tx: Tx, ctx: Ctx, apiKey: string, wanted: Wanted): Promise<KeyRow> {
  return tx.apiKey.create({
    data: {
      ...wanted,
      scopes: [...new Set(wanted.scopes)],
      id: newId("key"),
      prefix: keyPrefix(apiKey),
      hash: new Uint8Array(hash("sha256", apiKey, "buffer")),
      createdBy: ctx.principal.kind === "human_session" ? ctx.principal.id : null,
    },
  });
}

/** Of which tenant and key an entry of the audit log speaks. */
export const actOn = ({ id, organizationId, projectId }: KeyRow) => ({
  organizationId,
  projectId,
  subject: id,
});

/** What an entry says of a key. */
export const shownOf = ({ name, prefix, environment, scopes, expiresAt }: KeyRow) => ({
  name,
  prefix,
  environment,
  scopes,
  expiresAt: expiresAt?.toISOString() ?? null,
});

export function refuseMoreThanOwn(role: Role, scopes: readonly ScopeName[]): void {
  const beyond = scopes.filter((scope) => !isAllowed(role, scope));
  if (beyond.length > 0) {
    fail(
      "AuthorizationFailed",
      `Your role cannot grant these scopes: ${beyond.join(", ")}. Remove them, or ask an admin to create the key.`,
      { scopes: beyond },
    );
  }
}

/** The organization and project a new key belongs to; a project must be one the caller can see and have the environment. */
async function placeOf(
  tx: Tx,
  ctx: Ctx,
  input: z.output<typeof CreateApiKey>,
): Promise<{ organizationId: string; projectId: string | null }> {
  if (!input.projectId) {
    const row = await tx.organization.findUnique({ where: { id: input.organizationId ?? "" } });
    return { organizationId: row?.id ?? fail("NotFound", "There is no such organization."), projectId: null };
  }
  const row = await tx.project.findUnique({
    where: { id: input.projectId },
    include: { environments: true },
  });
  if (!row || !roleIn(ctx, row.organizationId)) fail("NotFound", "There is no such project.");
  if (row.status !== "active")
    fail("InvalidInput", "This project is archived. Restore it before you create a key for it.");
  const isKnown = row.environments.some(
    ({ slug, status }) => slug === input.environment && status === "active",
  );
  if (!isKnown)
    fail(
      "InvalidInput",
      `The project has no environment ${input.environment}. Create it first, or choose another.`,
    );
  return { organizationId: row.organizationId, projectId: row.id };
}

/** Keys of the caller's organizations, newest first: what they are, never what they are made of. */
export async function listKeys(
  ctx: Ctx,
  { projectId, organizationId, includeRevoked }: z.output<typeof ListApiKeys>,
): Promise<ApiKey[]> {
  const visible = visibleOrganizations(ctx);
  const rows = await withSystem((tx) =>
    tx.apiKey.findMany({
      where: {
        AND: [visible ? { organizationId: { in: visible } } : {}, organizationId ? { organizationId } : {}],
        ...(projectId ? { projectId } : {}),
        ...(includeRevoked ? {} : { revokedAt: null }),
      },
      orderBy: { id: "desc" },
    }),
  );
  return rows.map(toKey);
}

/**
 * Revokes a key: once this has answered, no request anywhere is served by it. Again changes nothing. For members and
 * above, and for the key itself; NotFound for a key of strangers.
 */
export async function revokeKey(ctx: Ctx, keyId: string): Promise<ApiKey> {
  return changeAccess(async (tx) => {
    const known = await lockKey(tx, ctx, keyId);
    if (known.revokedAt) return toKey(known);
    const row = await tx.apiKey.update({ where: { id: keyId }, data: { revokedAt: ctx.now() } });
    await record(ctx, { ...actOn(row), action: "key.revoked", details: shownOf(row) }, tx);
    return toKey(row);
  });
}

/** A key the caller may change, as it stays until the end of the transaction. */
export async function lockKey(tx: Tx, ctx: Ctx, keyId: string): Promise<KeyRow> {
  await tx.$queryRaw`SELECT FROM api_key WHERE id = ${keyId} FOR UPDATE`;
  const row = await tx.apiKey.findUnique({ where: { id: keyId } });
  const isItself = ctx.principal.kind === "service_principal" && ctx.principal.id === keyId;
  if (!row || !(isItself || roleIn(ctx, row.organizationId))) fail("NotFound", "There is no such key.");
  if (!isItself) access.authorize(ctx, "member", { organizationId: row.organizationId });
  return row;
}

export type KeyRow = {
  id: string;
  name: string;
  prefix: string;
  organizationId: string;
  projectId: string | null;
  environment: string;
  scopes: string[];
  createdBy: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  replacedBy: string | null;
};

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
  };
}
