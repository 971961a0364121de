import type { ManagementGrant } from "@/server/contract/management-keys";
import { apiKey, project } from "@/server/generated/schema";
import {
  bool,
  int4,
  jsonb,
  maybe,
  type Of,
  pick,
  present,
  text,
  texts,
  timestamptz,
} from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** A key without its hash, under the names that Prisma Client gives its columns. */
const KEY = {
  ...pick(apiKey, "id name prefix environment management"),
  organizationId: apiKey.organization_id,
  projectId: apiKey.project_id,
  scopes: present(apiKey.scopes, "Prisma declares lists without NOT NULL; each key is created with some"),
  createdBy: apiKey.created_by,
  createdAt: apiKey.created_at,
  expiresAt: apiKey.expires_at,
  revokedAt: apiKey.revoked_at,
  lastUsedAt: apiKey.last_used_at,
  replacedBy: apiKey.replaced_by,
  madeByKey: apiKey.made_by_key,
};
export type KeyRow = Omit<Of<typeof KEY>, "management"> & { management: unknown };
const KEY_COLUMNS = `id, name, prefix, environment, management, organization_id AS "organizationId", project_id AS "projectId",
  scopes, created_by AS "createdBy", created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt",
  last_used_at AS "lastUsedAt", replaced_by AS "replacedBy", made_by_key AS "madeByKey"`;

export const countWorking = statement("key.count.working", {
  params: { organizationId: text, now: timestamptz },
  row: { count: int4 },
  sql: `SELECT count(*)::int AS count FROM api_key WHERE organization_id = $organizationId AND revoked_at IS NULL
    AND replaced_by IS NULL AND (expires_at IS NULL OR expires_at > $now)`,
});

/** Locks the management key that makes another key, so that no one revokes it before the transaction ends. */
export const lockManager = statement("key.lock.manager", {
  params: { keyId: text },
  row: pick(apiKey, "expires_at revoked_at"),
  sql: "SELECT expires_at, revoked_at FROM api_key WHERE id = $keyId FOR SHARE",
});

export const insert = statement("key.insert", {
  params: {
    ...pick(apiKey, "id name prefix environment hash"),
    scopes: texts,
    organizationId: text,
    projectId: maybe(text),
    createdBy: maybe(text),
    createdAt: timestamptz,
    expiresAt: maybe(timestamptz),
    management: maybe(jsonb<ManagementGrant>()),
    madeByKey: maybe(text),
  },
  row: KEY,
  sql: `INSERT INTO api_key (id, name, prefix, environment, hash, scopes, organization_id, project_id, created_by, created_at, expires_at,
      management, made_by_key)
    VALUES ($id, $name, $prefix, $environment, $hash, $scopes, $organizationId, $projectId, $createdBy, $createdAt, $expiresAt,
      $management, $madeByKey)
    RETURNING ${KEY_COLUMNS}`,
});

export const lock = statement("key.lock", {
  params: { keyId: text },
  row: KEY,
  sql: `SELECT ${KEY_COLUMNS} FROM api_key WHERE id = $keyId FOR UPDATE`,
});

export const revoke = statement("key.revoke", {
  params: { keyId: text, now: timestamptz },
  row: KEY,
  sql: `UPDATE api_key SET revoked_at = $now WHERE id = $keyId RETURNING ${KEY_COLUMNS}`,
});

export const revokeMade = statement("key.revoke.made", {
  params: { keyId: text, now: timestamptz },
  row: { id: text },
  sql: "UPDATE api_key SET revoked_at = $now WHERE made_by_key = $keyId AND revoked_at IS NULL RETURNING id",
});

export const replace = statement("key.replace", {
  params: { keyId: text, replacedBy: text, revokedAt: maybe(timestamptz), expiresAt: maybe(timestamptz) },
  sql: `UPDATE api_key SET replaced_by = $replacedBy, revoked_at = coalesce($revokedAt, revoked_at),
      expires_at = coalesce($expiresAt, expires_at)
    WHERE id = $keyId`,
});

export const transferBudgets = statement("budget.transfer", {
  params: { organizationId: text, keyId: text, successorId: text, now: timestamptz },
  row: { budgets: maybe(int4) },
  sql: "SELECT capstan_transfer_budgets($organizationId, $keyId, $successorId, $now)::int AS budgets",
});

export const findOrganizationForKey = statement("organization.find.id", {
  params: { organizationId: text },
  row: { id: text },
  sql: "SELECT id FROM organization WHERE id = $organizationId",
});

export const findProjectForKey = statement("project.find.for_key", {
  params: { projectId: text, environment: text },
  row: { ...pick(project, "id organization_id status"), is_known: bool },
  sql: `SELECT id, organization_id, status, EXISTS (SELECT FROM environment
      WHERE environment.project_id = project.id AND slug = $environment AND environment.status = 'active') AS is_known
    FROM project WHERE id = $projectId`,
});
