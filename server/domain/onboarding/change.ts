import type { UserGuardrails } from "@/server/contract/budgets";
import type {
  BindConnection,
  Connection,
  ConnectionChanged,
  CreateConnection,
  RotateConnection,
} from "@/server/contract/connections";
import type { CreateCredential, CredentialBinding } from "@/server/contract/credentials";
import { changeAccess } from "@/server/domain/access";
import { writeConnectionGuardrails } from "@/server/domain/budgets";
import * as credentials from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { ownerOf, placeToManage } from "./owner";
import { readConnection } from "./read";
import { spelledSecret } from "./spelling";

/** Returns the input of a credential from the body of a connection. */
function credentialOf({ provider, label, endpointUrl, models, passThrough, ...spelled }: RotateConnection) {
  return { provider, secret: spelledSecret(spelled), label, endpointUrl, models, passThrough };
}

const alongside =
  (ctx: Ctx, guardrails: UserGuardrails | null | undefined): credentials.Alongside =>
  async (client, credential) => {
    if (guardrails) await writeConnectionGuardrails(ctx, client, credential, guardrails);
  };

/** Returns the place to bind the connection in the same step. Without a project there is none. */
function placesOf(
  { autoBind, environment, replaceExisting }: CreateConnection | RotateConnection,
  projectId: string | null,
): credentials.Binding[] {
  return autoBind && projectId !== null ? [{ projectId, environment, replaces: replaceExisting }] : [];
}

/**
 * Connects an account: the provider checks it, and it is stored, bound and given its guardrails in one transaction.
 * Returns whether it replaced another connection.
 */
export async function connect(ctx: Ctx, input: CreateConnection): Promise<ConnectionChanged> {
  const { organizationId, projectId } = await placeToManage(ctx, input.projectId);
  const places = placesOf(input, projectId);
  const before = await boundIn(organizationId, input.provider, places[0]);
  const { credentialId } = await credentials.createCredential(
    ctx,
    organizationId,
    credentialOf(input) as CreateCredential, // the schema of a creation always gives a label
    { places, alongside: alongside(ctx, input.userGuardrails) },
  );
  const connection = await readConnection(ctx, credentialId);
  return { connection: { ...connection, action: before ? "replaced" : "created" } };
}

/** Returns the connection of this provider that the environment uses now, if any. */
async function boundIn(organizationId: string, provider: string, place: credentials.Binding | undefined) {
  if (!place) return null;
  const all = await credentials.credentialsOf(organizationId);
  return all.find((each) =>
    each.bindings.some(
      (binding) =>
        binding.provider === provider &&
        binding.project_id === place.projectId &&
        binding.environment === place.environment,
    ),
  );
}

/** Replaces the secret of a connection, and binds it or changes its guardrails if the body requests it. */
export async function rotate(
  ctx: Ctx,
  connectionId: string,
  input: RotateConnection,
): Promise<ConnectionChanged> {
  const organizationId = await ownerOf(ctx, connectionId);
  const projectId = input.projectId ?? null;
  await credentials.rotateCredential(ctx, organizationId, connectionId, {
    input: credentialOf(input),
    places: placesOf(input, projectId),
    alongside: alongside(ctx, input.userGuardrails),
  });
  return { connection: { ...(await readConnection(ctx, connectionId)), action: "rotated" } };
}

/**
 * Changes how much a connection may spend. For admins of its organization, and for a management key if only its
 * projects use the connection.
 */
export async function setGuardrails(
  ctx: Ctx,
  connectionId: string,
  input: UserGuardrails,
): Promise<Connection> {
  const { organizationId } = await readConnection(ctx, connectionId);
  await changeAccess((client) =>
    writeConnectionGuardrails(ctx, client, { id: connectionId, organizationId }, input),
  );
  return readConnection(ctx, connectionId);
}

export async function remove(ctx: Ctx, connectionId: string): Promise<Record<string, boolean>> {
  const organizationId = await ownerOf(ctx, connectionId);
  const { deleted } = await credentials.deleteCredential(ctx, organizationId, connectionId);
  return { deleted };
}

/** Binds a connection to an environment, which can then use it. */
export async function bind(
  ctx: Ctx,
  connectionId: string,
  input: BindConnection,
): Promise<CredentialBinding> {
  const { organizationId, provider } = await readConnection(ctx, connectionId);
  return credentials.bindCredential(ctx, organizationId, connectionId, {
    input: {
      projectId: input.projectId,
      environment: input.environment,
      provider: input.provider ?? provider,
    },
  });
}

export async function unbind(
  ctx: Ctx,
  connectionId: string,
  bindingId: string,
): Promise<Record<string, boolean>> {
  return credentials.unbindCredential(ctx, await ownerOf(ctx, connectionId), connectionId, bindingId);
}
