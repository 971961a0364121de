import type { CreateCredential, Credential, CredentialList } from "@/server/contract/credentials";
import { access, changeAccess } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { credential } from "@/server/generated/schema";
import { toSecrets } from "@/server/platform/crypto/secret";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type Alongside, type Binding, writeBinding } from "./bind";
import { askProvider, type CheckResult, keepCheck, requireAccepted } from "./check";
import {
  type CredentialRow,
  credentialsOf,
  findConnectableProvider,
  getCredential,
  requireHost,
  requireMayConnect,
  toCredential,
} from "./rows";
import { openFields, parseCredentials, recognizableParts, sealFields } from "./secret-fields";
import { checkedModels, checkPassThrough } from "./server-of";

/** Credentials of an organization, newest first, without their secrets. For its admins, not for keys. */
export async function listCredentials(ctx: Ctx, organizationId: string): Promise<CredentialList> {
  access.authorize(ctx, "admin", { organizationId });
  return { items: (await credentialsOf(organizationId)).map(toCredential) };
}

/** The input of a rotation. The label stays if none is given. */
export type Rotation = Omit<CreateCredential, "label"> & { label?: string | undefined };

const rotate = statement("credential.update.rotated", {
  params: {
    credentialId: text,
    organizationId: text,
    sealed: credential.sealed,
    last4: credential.last4,
    fingerprint: credential.fingerprint,
    label: credential.label,
    models: credential.models,
    checkedAt: credential.checked_at,
    now: timestamptz,
    passThrough: credential.pass_through,
  },
  sql: `UPDATE credential SET sealed = $sealed, last4 = $last4, fingerprint = $fingerprint, label = $label, models = $models,
      status = 'ready', checked_at = $checkedAt, rotated_at = $now, pass_through = $passThrough, request_rules = NULL
    WHERE id = $credentialId AND organization_id = $organizationId`,
});

const deleteHealth = statement("route_health.delete.account", {
  params: { credentialId: text },
  sql: `DELETE FROM route_health WHERE account = $credentialId`,
});

/**
 * Replaces a secret after the provider has accepted the new one at the same address. Id, bindings and address
 * stay; executions from now on use the new secret.
 */
export async function rotateCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
  {
    input,
    places = [],
    alongside = async () => {},
  }: { input: Rotation; places?: Binding[] | undefined; alongside?: Alongside | undefined },
): Promise<Credential> {
  const before = await getCredential(ctx, organizationId, credentialId);
  requireHost(ctx, before.base_url);
  if (places.length > 0)
    requireMayConnect(
      ctx,
      organizationId,
      places.map(({ projectId }) => projectId),
    );
  const refuse = (field: string, msg: string): never => {
    throw new ValidationFault([{ loc: ["body", field], msg, type: "value_error" }]);
  };
  if (input.provider !== before.provider) refuse("provider", `This credential is for ${before.provider}.`);
  if (input.endpointUrl && input.endpointUrl.replace(/\/+$/, "") !== before.endpoint_url)
    refuse("endpointUrl", "The address of a credential cannot change. Connect a new credential.");
  const provider = findConnectableProvider(before.provider) ?? providerGone(before);
  if (input.models && !provider.modelsFrom)
    refuse("models", `${provider.title} has a fixed list of models. Leave this field out.`);
  const models = input.models ? checkedModels(provider, input.models) : before.models;
  checkPassThrough(provider, input.passThrough);
  const passThrough = input.passThrough ?? before.pass_through;
  const fields = parseCredentials(provider, input.secret);
  await requireAccepted(ctx, provider, before.base_url, toSecrets(fields));

  const { last4, fingerprint } = recognizableParts(provider.name, organizationId, fields);
  const now = ctx.now();
  await changeAccess(async (client) => {
    const rowCount = await rotate.count(client, {
      credentialId,
      organizationId,
      sealed: sealFields(organizationId, credentialId, fields),
      last4,
      fingerprint,
      label: input.label ?? before.label,
      models,
      checkedAt: provider.check ? now : null,
      now,
      passThrough,
    });
    if (rowCount === 0) fail("NotFound", "There is no such credential."); // deleted meanwhile
    await deleteHealth.run(client, { credentialId }); // the health of a new secret starts empty
    const details = { provider: provider.name, last4, fingerprint, before: before.fingerprint };
    await record(
      ctx,
      { organizationId, action: "credential.rotated", subject: credentialId, details },
      client,
    );
    const credential = { id: credentialId, organizationId };
    for (const place of places)
      await writeBinding(
        ctx,
        client,
        { ...credential, provider: provider.name, label: input.label ?? before.label },
        place,
      );
    if (provider.check) await keepCheck(client, credentialId, { outcome: "ready", message: null }, now);
    await alongside(client, credential);
  });
  return toCredential(await getCredential(ctx, organizationId, credentialId));
}

const deleteRow = statement("credential.delete", {
  params: { credentialId: text },
  sql: `DELETE FROM credential WHERE id = $credentialId`,
});

/**
 * Deletes a credential with its secret and its bindings: waiting executions that were to use it fail without
 * being sent.
 */
export async function deleteCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
): Promise<{ credentialId: string; deleted: boolean }> {
  await changeAccess(async (client) => {
    const { provider, label, last4, bindings } = await getCredential(
      ctx,
      organizationId,
      credentialId,
      client,
    );
    await deleteRow.run(client, { credentialId });
    await deleteHealth.run(client, { credentialId });
    const details = { provider, label, last4, bindings: bindings.length };
    await record(
      ctx,
      { organizationId, action: "credential.deleted", subject: credentialId, details },
      client,
    );
  });
  return { credentialId, deleted: true };
}

const storeOutcome = statement("credential.update.status", {
  params: { credentialId: text, outcome: credential.status, now: timestamptz },
  sql: `UPDATE credential SET status = $outcome, checked_at = $now WHERE id = $credentialId`,
});

/** Asks the provider again whether it accepts the credential, and stores the result. */
export async function checkCredential(
  ctx: Ctx,
  organizationId: string,
  credentialId: string,
): Promise<{ credential: Credential } & CheckResult> {
  const row = await getCredential(ctx, organizationId, credentialId);
  const provider = findConnectableProvider(row.provider) ?? providerGone(row);
  const result = await askProvider(
    ctx,
    provider,
    row.base_url,
    openFields(organizationId, row.id, row.sealed),
  );
  const { outcome } = result;
  await changeAccess(async (client) => {
    // An unreachable provider has not judged the credential, so its status stays.
    if (outcome !== "unreachable")
      await storeOutcome.run(client, { credentialId: row.id, outcome, now: ctx.now() });
    await keepCheck(client, row.id, result, ctx.now());
    const details = { status: outcome };
    await record(ctx, { organizationId, action: "credential.checked", subject: row.id, details }, client);
  });
  return { credential: toCredential(await getCredential(ctx, organizationId, row.id)), ...result };
}

function providerGone({ provider }: CredentialRow): never {
  fail("NotFound", `This installation no longer has the provider ${provider}.`);
}
