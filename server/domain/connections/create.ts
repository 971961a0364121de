import type { CreateCredential, Credential } from "@/server/contract/credentials";
import { changeAccess } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { credential } from "@/server/generated/schema";
import { toSecrets } from "@/server/platform/crypto/secret";
import { ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type Alongside, type Binding, writeBinding } from "./bind";
import { keepCheck, requireAccepted } from "./check";
import { getCredential, getProvider, requireHost, requireMayConnect, toCredential } from "./rows";
import { parseCredentials, recognizableParts, sealFields } from "./secret-fields";
import { serverOf } from "./server-of";

const MOST = 200;

const insertCredential = statement("credential.insert", {
  params: {
    id: credential.id,
    organizationId: credential.organization_id,
    provider: credential.provider,
    label: credential.label,
    sealed: credential.sealed,
    last4: credential.last4,
    fingerprint: credential.fingerprint,
    baseUrl: credential.base_url,
    endpointUrl: credential.endpoint_url,
    models: credential.models,
    passThrough: credential.pass_through,
    checkedAt: credential.checked_at,
    createdBy: credential.created_by,
    now: timestamptz,
  },
  sql: `INSERT INTO credential (id, organization_id, provider, label, sealed, last4, fingerprint, base_url, endpoint_url,
      models, pass_through, status, checked_at, created_by, created_at)
    SELECT $id, $organizationId, $provider, $label, $sealed, $last4, $fingerprint, $baseUrl, $endpointUrl,
      $models, $passThrough, 'ready', $checkedAt, $createdBy, $now
    WHERE (SELECT count(*) FROM credential WHERE organization_id = $organizationId) < ${MOST}`,
});

/**
 * Stores an organization's account at a provider, after the provider has accepted it, and binds it to the
 * named places. A refused secret leaves no trace. For admins, and for management keys in their projects and
 * at their hosts.
 */
export async function createCredential(
  ctx: Ctx,
  organizationId: string,
  input: CreateCredential,
  {
    places = [],
    alongside = async () => {},
  }: { places?: Binding[] | undefined; alongside?: Alongside | undefined } = {},
): Promise<Credential> {
  requireMayConnect(
    ctx,
    organizationId,
    places.map(({ projectId }) => projectId),
  );
  const provider = getProvider(input.provider);
  const server = serverOf(provider, input);
  requireHost(ctx, server.baseUrl);
  const fields = parseCredentials(provider, input.secret);
  await requireAccepted(ctx, provider, server.baseUrl, toSecrets(fields));

  const id = newId("credential");
  const now = ctx.now();
  const { last4, fingerprint } = recognizableParts(provider.name, organizationId, fields);
  const by = ctx.principal.kind === "human_session" ? ctx.principal.id : null;
  await changeAccess(async (client) => {
    const rowCount = await insertCredential.count(client, {
      id,
      organizationId,
      provider: provider.name,
      label: input.label,
      sealed: sealFields(organizationId, id, fields),
      last4,
      fingerprint,
      baseUrl: server.baseUrl,
      endpointUrl: server.endpointUrl,
      models: server.models,
      passThrough: server.passThrough,
      checkedAt: provider.check ? now : null,
      createdBy: by,
      now,
    });
    if (rowCount === 0)
      refuse(
        "provider",
        `An organization can have at most ${MOST} credentials. Delete one first.`,
        "too_many",
      );
    const details = { provider: provider.name, label: input.label, last4, fingerprint };
    await record(ctx, { organizationId, action: "credential.created", subject: id, details }, client);
    for (const place of places)
      await writeBinding(
        ctx,
        client,
        { id, organizationId, provider: provider.name, label: input.label },
        place,
      );
    if (provider.check) await keepCheck(client, id, { outcome: "ready", message: null }, now);
    await alongside(client, { id, organizationId });
  });
  return toCredential(await getCredential(ctx, organizationId, id));
}

function refuse(field: string, msg: string, type: string): never {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
}
