import type { BindCredential, CredentialBinding } from "@/server/contract/credentials";
import { changeAccessBy, managerOf } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import type { Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { nameAmong, providerOfRoute } from "./route-names";
import { type BindingRow, getCredential, requireMayChange, requireMayConnect, toBinding } from "./rows";

/** Where a credential is used; with `replaces`, instead of another one of the same provider. */
export type Place = { projectId: string; environment: string; replaces?: boolean };

/** What is written together with a credential or its binding, in the transaction that announces it. */
export type Alongside = (
  client: Transaction,
  credential: { id: string; organizationId: string },
) => Promise<void>;

/** Connects an environment of a project: what runs there may use the credential from now on. Again changes nothing. */
export async function bindCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
  {
    input: { provider, ...place },
    alongside = async () => {},
  }: { input: BindCredential & Pick<Place, "replaces">; alongside?: Alongside | undefined },
): Promise<CredentialBinding> {
  requireMayConnect(ctx, organizationId, [place.projectId]);
  const credential = await getCredential(ctx, organizationId, credentialId);
  if (provider !== credential.provider) {
    const msg = `This credential is for ${credential.provider}.`;
    throw new ValidationFault([{ loc: ["body", "provider"], msg, type: "value_error" }]);
  }
  return changeAccessBy(async (client) => {
    const binding = await writeBinding(ctx, client, { ...credential, organizationId }, place);
    await alongside(client, { id: credentialId, organizationId });
    return binding;
  });
}

/** Writes a binding within the caller's transaction, which announces the change. */
export async function writeBinding(
  ctx: Ctx,
  client: Transaction,
  credential: { id: string; organizationId: string; provider: string; label: string },
  { projectId, environment, replaces = false }: Place,
): Promise<CredentialBinding> {
  const { organizationId, provider } = credential;
  await requirePlace(client, organizationId, projectId, environment);
  const { rows: bound } = await client.query<BindingRow & { label: string }>(
    `SELECT binding.*, credential.label
     FROM credential_binding binding JOIN credential ON credential.id = binding.credential_id
     WHERE binding.project_id = $1 AND binding.environment = $2 AND split_part(binding.provider, ':', 1) = $3
     FOR UPDATE OF binding`,
    [projectId, environment, provider],
  );
  const already = bound.find(({ credential_id }) => credential_id === credential.id);
  if (already) return toBinding(already);
  const { name, before } = nameAmong(bound, credential, replaces);
  if (before && !replaces) alreadyConnected(before);
  if (before) await removeBinding(ctx, client, organizationId, before);
  const by = ctx.principal.kind === "human_session" ? ctx.principal.id : null;
  const { rows } = await client.query<BindingRow>(
    `INSERT INTO credential_binding (id, credential_id, organization_id, project_id, environment, provider, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (project_id, environment, provider) DO NOTHING RETURNING *`,
    [newId("binding"), credential.id, organizationId, projectId, environment, name, by, ctx.now()],
  );
  const row = rows[0];
  // Somebody else was faster by a moment.
  if (!row) {
    const { rows: winner } = await client.query<BindingRow>(
      `SELECT * FROM credential_binding WHERE project_id = $1 AND environment = $2 AND provider = $3`,
      [projectId, environment, name],
    );
    return alreadyConnected(winner[0]!); // the conflict was with it
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

async function requirePlace(
  client: Transaction,
  organizationId: string,
  projectId: string,
  environment: string,
): Promise<void> {
  const { rows } = await client.query<{ environments: string[] | null }>(
    `SELECT (SELECT array_agg(slug ORDER BY slug) FROM environment WHERE project_id = project.id AND status = 'active')
       AS environments FROM project WHERE id = $1 AND organization_id = $2 AND status = 'active'`,
    [projectId, organizationId],
  );
  const refuse = (field: string, msg: string): never => {
    throw new ValidationFault([{ loc: ["body", field], msg, type: "value_error" }]);
  };
  const project = rows[0] ?? refuse("projectId", "The organization has no such project.");
  if (!project.environments?.includes(environment))
    refuse("environment", `The project has no environment ${environment}.`);
}

/** Disconnects an environment: what waits there and was to use the credential fails without being sent. */
export async function unbindCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
  bindingId: string,
): Promise<Record<string, boolean>> {
  await requireMayChange(ctx, organizationId);
  const { principal } = ctx;
  const own = managerOf(ctx)?.management.projectIds;
  await changeAccessBy(async (client) => {
    const { rows } = await client.query<BindingRow>(
      `SELECT * FROM credential_binding WHERE id = $1 AND credential_id = $2 AND organization_id = $3 FOR UPDATE`,
      [bindingId, credentialId, organizationId],
    );
    const row = rows[0];
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

async function removeBinding(ctx: Ctx, client: Transaction, organizationId: string, row: BindingRow) {
  await client.query("DELETE FROM credential_binding WHERE id = $1", [row.id]);
  const { environment, provider } = row;
  const act = { organizationId, projectId: row.project_id, action: "credential.unbound" };
  const details = { bindingId: row.id, environment, provider };
  await record(ctx, { ...act, subject: row.credential_id, details }, client);
}
