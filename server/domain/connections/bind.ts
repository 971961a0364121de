import type { BindCredential, CredentialBinding } from "@/server/contract/credentials";
import { changeAccess, managerOf } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { credential, credentialBinding } from "@/server/generated/schema";
import type { Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { maybe, pick, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { nameAmong, providerOfRoute } from "./route-names";
import { type BindingRow, getCredential, requireMayChange, requireMayConnect, toBinding } from "./rows";

/**
 * The environment that uses a credential; with `replaces`, instead of another credential of the same
 * provider.
 */
export type Binding = { projectId: string; environment: string; replaces?: boolean };

/**
 * Writes more rows together with a credential or its binding, in the transaction that announces the change.
 */
export type Alongside = (
  client: Transaction,
  credential: { id: string; organizationId: string },
) => Promise<void>;

/**
 * Binds a credential to an environment of a project: executions there may use it from now on. Repeating it
 * changes nothing.
 */
export async function bindCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
  {
    input: { provider, ...place },
    alongside = async () => {},
  }: { input: BindCredential & Pick<Binding, "replaces">; alongside?: Alongside | undefined },
): Promise<CredentialBinding> {
  requireMayConnect(ctx, organizationId, [place.projectId]);
  const credential = await getCredential(ctx, organizationId, credentialId);
  if (provider !== credential.provider) {
    const msg = `This credential is for ${credential.provider}.`;
    throw new ValidationFault([{ loc: ["body", "provider"], msg, type: "value_error" }]);
  }
  return changeAccess(async (client) => {
    const binding = await writeBinding(ctx, client, { ...credential, organizationId }, place);
    await alongside(client, { id: credentialId, organizationId });
    return binding;
  });
}

const lockBinding = statement("credential_binding.lock.provider", {
  params: { projectId: text, environment: text, provider: text },
  row: {
    ...pick(
      credentialBinding,
      "id credential_id organization_id project_id environment provider created_by created_at",
    ),
    label: credential.label,
  },
  sql: `SELECT binding.*, credential.label
     FROM credential_binding binding JOIN credential ON credential.id = binding.credential_id
     WHERE binding.project_id = $projectId AND binding.environment = $environment AND split_part(binding.provider, ':', 1) = $provider
     FOR UPDATE OF binding`,
});

const insertBinding = statement("credential_binding.insert", {
  params: {
    bindingId: credentialBinding.id,
    credentialId: credentialBinding.credential_id,
    organizationId: credentialBinding.organization_id,
    projectId: credentialBinding.project_id,
    environment: credentialBinding.environment,
    provider: credentialBinding.provider,
    createdBy: credentialBinding.created_by,
    now: timestamptz,
  },
  row: credentialBinding,
  sql: `INSERT INTO credential_binding (id, credential_id, organization_id, project_id, environment, provider, created_by, created_at)
     VALUES ($bindingId, $credentialId, $organizationId, $projectId, $environment, $provider, $createdBy, $now)
     ON CONFLICT (project_id, environment, provider) DO NOTHING RETURNING *`,
});

const readBinding = statement("credential_binding.read.provider", {
  params: { projectId: text, environment: text, provider: text },
  row: credentialBinding,
  sql: `SELECT * FROM credential_binding WHERE project_id = $projectId AND environment = $environment AND provider = $provider`,
});

/** Writes a binding within the caller's transaction, which must announce the change. */
export async function writeBinding(
  ctx: Ctx,
  client: Transaction,
  credential: { id: string; organizationId: string; provider: string; label: string },
  { projectId, environment, replaces = false }: Binding,
): Promise<CredentialBinding> {
  const { organizationId, provider } = credential;
  await requirePlace(client, organizationId, projectId, environment);
  const bound = await lockBinding.all(client, { projectId, environment, provider });
  const already = bound.find(({ credential_id }) => credential_id === credential.id);
  if (already) return toBinding(already);
  const { name, before } = nameAmong(bound, credential, replaces);
  if (before && !replaces) alreadyConnected(before);
  if (before) await removeBinding(ctx, client, organizationId, before);
  const by = ctx.principal.kind === "human_session" ? ctx.principal.id : null;
  const row = await insertBinding.first(client, {
    bindingId: newId("binding"),
    credentialId: credential.id,
    organizationId,
    projectId,
    environment,
    provider: name,
    createdBy: by,
    now: ctx.now(),
  });
  // A concurrent binding was written first.
  if (!row) {
    const winner = await readBinding.all(client, { projectId, environment, provider: name });
    return alreadyConnected(winner[0]!); // the row that the insert conflicted with
  }
  const details = { bindingId: row.id, environment, provider: name };
  const act = { organizationId, projectId, action: "credential.bound", subject: credential.id, details };
  await record(ctx, act, client);
  return toBinding(row);
}

function alreadyConnected({ credential_id, id, environment, provider }: BindingRow): never {
  fail(
    "AlreadyConnected",
    `${environment} already uses another ${provider} credential. Unbind or rotate that one first${alsoLabel(provider)}.`,
    { credentialId: credential_id, bindingId: id },
  );
}

const alsoLabel = (provider: string) =>
  providerOfRoute(provider)?.modelsFrom
    ? ", or give this server another label to use it beside that one"
    : "";

const findPlace = statement("project.find.to_connect", {
  params: { projectId: text, organizationId: text },
  row: { environments: maybe(texts) },
  sql: `SELECT (SELECT array_agg(slug ORDER BY slug) FROM environment WHERE project_id = project.id AND status = 'active')
       AS environments FROM project WHERE id = $projectId AND organization_id = $organizationId AND status = 'active'`,
});

async function requirePlace(
  client: Transaction,
  organizationId: string,
  projectId: string,
  environment: string,
): Promise<void> {
  const found = await findPlace.first(client, { projectId, organizationId });
  const refuse = (field: string, msg: string): never => {
    throw new ValidationFault([{ loc: ["body", field], msg, type: "value_error" }]);
  };
  const project = found ?? refuse("projectId", "The organization has no such project.");
  if (!project.environments?.includes(environment))
    refuse("environment", `The project has no environment ${environment}.`);
}

const lockOwnBinding = statement("credential_binding.lock.own", {
  params: { bindingId: text, credentialId: text, organizationId: text },
  row: credentialBinding,
  sql: `SELECT * FROM credential_binding WHERE id = $bindingId AND credential_id = $credentialId AND organization_id = $organizationId FOR UPDATE`,
});

/** Unbinds an environment: waiting executions that were to use the credential fail without being sent. */
export async function unbindCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
  bindingId: string,
): Promise<Record<string, boolean>> {
  await requireMayChange(ctx, organizationId);
  const { principal } = ctx;
  const own = managerOf(ctx)?.management.projectIds;
  await changeAccess(async (client) => {
    const row = await lockOwnBinding.first(client, { bindingId, credentialId, organizationId });
    const isOthers =
      principal.kind === "service_principal" &&
      principal.projectId !== null &&
      (row?.project_id !== principal.projectId || row.environment !== principal.environment);
    if (!row || isOthers || (own && !own.includes(row.project_id)))
      fail("NotFound", "There is no such binding.");
    await removeBinding(ctx, client, organizationId, row);
  });
  return { unbound: true };
}

const deleteBinding = statement("credential_binding.delete", {
  params: { bindingId: text },
  sql: `DELETE FROM credential_binding WHERE id = $bindingId`,
});

async function removeBinding(ctx: Ctx, client: Transaction, organizationId: string, row: BindingRow) {
  await deleteBinding.run(client, { bindingId: row.id });
  const { environment, provider } = row;
  const act = { organizationId, projectId: row.project_id, action: "credential.unbound" };
  const details = { bindingId: row.id, environment, provider };
  await record(ctx, { ...act, subject: row.credential_id, details }, client);
}
