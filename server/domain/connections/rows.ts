import type { Credential, CredentialBinding } from "@/server/contract/credentials";
import { access, managerOf } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { credential } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";
import { column, type Of, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { shownRules } from "./request-rules";

export type BindingRow = {
  id: string;
  credential_id: string;
  project_id: string;
  environment: string;
  provider: string;
  /** A string if it was read as JSON. */
  created_at: Date | string;
};

const WITH_BINDINGS = { ...credential, bindings: column<BindingRow[]>("json") };
export type CredentialRow = Of<typeof WITH_BINDINGS>;

const SELECT = `SELECT credential.*, (
    SELECT coalesce(json_agg(binding ORDER BY binding.id), '[]') FROM credential_binding binding
    WHERE binding.credential_id = credential.id
  ) AS bindings FROM credential`;

/** The provider of this name; null if it does not exist or needs no account. */
export function findConnectableProvider(name: string): Provider | null {
  const found = providers.find((provider) => provider.name === name);
  return found && isConnectable(found) ? found : null;
}

/** The provider of this name; a 422 if it does not exist or needs no account. */
export function getProvider(name: string): Provider {
  const msg = `There is no provider ${name}.`;
  const found = findConnectableProvider(name);
  if (!found) throw new ValidationFault([{ loc: ["body", "provider"], msg, type: "unknown_provider" }]);
  return found;
}

/** False for the sandbox, which needs no account. */
export const isConnectable = ({ credentials, check }: Provider) =>
  check !== undefined || Object.keys(credentials.shape).length > 0;

const NOT_THERE = "There is no such credential.";

const listCredentials = statement("credential.list.organization", {
  params: { organizationId: text },
  row: WITH_BINDINGS,
  sql: `${SELECT} WHERE organization_id = $organizationId ORDER BY id DESC`,
});

export async function credentialsOf(organizationId: string): Promise<CredentialRow[]> {
  const rows = await listCredentials.all(pool, { organizationId });
  return rows;
}

const readCredential = statement("credential.read.own", {
  params: { credentialId: text, organizationId: text },
  row: WITH_BINDINGS,
  sql: `${SELECT} WHERE id = $credentialId AND organization_id = $organizationId`,
});

/**
 * A credential that the caller may change. People may by their role in the organization, and a key without a
 * project by its scope; a key bound to a project only if nothing but its own environment uses the credential,
 * and a management key only if nothing but its projects does. NotFound for any other credential.
 */
export async function getCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
  database: Queryable = pool,
): Promise<CredentialRow> {
  await requireMayChange(ctx, organizationId);
  const row = await readCredential.first(database, { credentialId, organizationId });
  if (!row || !isReachedBy(ctx, row)) fail("NotFound", NOT_THERE);
  return row;
}

/**
 * Throws unless the caller may change the credentials of an organization: its admins, and keys with the
 * scope. A key of an archived project changes nothing.
 */
export async function requireMayChange(ctx: Ctx, organizationId: string): Promise<void> {
  const { principal } = ctx;
  if (principal.kind !== "service_principal") {
    access.authorize(ctx, "admin", { organizationId });
    return;
  }
  access.authorize(ctx, "credentials:write");
  if (principal.organizationId !== organizationId) fail("NotFound", "There is no such organization.");
  if (principal.projectId !== null)
    await access.authorize(ctx, "credentials:write", { projectId: principal.projectId });
}

/**
 * Throws unless the caller may connect an account to these projects: admins of the organization, and a
 * management key if all of them are its own.
 */
export function requireMayConnect(ctx: Ctx, organizationId: string, projectIds: string[]): void {
  const asked = managerOf(ctx) && projectIds.length > 0 ? projectIds : [null];
  for (const projectId of asked)
    access.authorize(ctx, "credentials:write", { managed: { organizationId, projectId } });
}

/** Throws if a management key would send a secret to a host that its owner did not allow. */
export function requireHost(ctx: Ctx, baseUrl: string): void {
  const hosts = managerOf(ctx)?.management.hosts;
  const { host } = new URL(baseUrl);
  if (!hosts || hosts.includes(host)) return;
  fail(
    "AuthorizationFailed",
    `This management key cannot connect to ${host}. It can connect to: ${hosts.join(", ") || "no host"}.`,
    { host, allowed: hosts },
  );
}

/**
 * True if the caller can see the credential; a bound key and a management key see it only if it has bindings,
 * all in the key's own places.
 */
export function isReachedBy({ principal }: Ctx, row: CredentialRow): boolean {
  if (principal.kind !== "service_principal") return true;
  const { management, projectId, environment } = principal;
  if (projectId === null && !management) return true;
  const isOwn = (binding: BindingRow) =>
    management
      ? management.projectIds.includes(binding.project_id)
      : binding.project_id === projectId && binding.environment === environment;
  return row.bindings.length > 0 && row.bindings.every(isOwn);
}

export function toBinding(row: BindingRow): CredentialBinding {
  return {
    bindingId: row.id,
    credentialId: row.credential_id,
    projectId: row.project_id,
    environment: row.environment,
    provider: row.provider,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

/** The public form of a credential, without its secret. */
export function toCredential(row: CredentialRow): Credential {
  return {
    credentialId: row.id,
    organizationId: row.organization_id,
    provider: row.provider,
    label: row.label,
    last4: row.last4,
    fingerprint: row.fingerprint,
    endpointUrl: row.endpoint_url,
    models: row.models,
    passThrough: row.pass_through,
    requestRules: shownRules(row.request_rules),
    status: row.status,
    checkedAt: row.checked_at?.toISOString() ?? null,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    rotatedAt: row.rotated_at?.toISOString() ?? null,
    bindings: row.bindings.map(toBinding),
  };
}
