import type { Connection, ConnectionDetail } from "@/server/contract/connections";
import type { CredentialBinding } from "@/server/contract/credentials";
import { connectionGuardrails } from "@/server/domain/budgets";
import {
  type CredentialRow,
  connectionHealth,
  credentialsOf,
  getCredential,
  isReachedBy,
  toCredential,
} from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { ownerOf, placeToManage } from "./owner";

/**
 * Returns the connections of the caller's organization, newest first, or only those that serve one project. Secrets are
 * never included. Only admins and management keys may call this.
 */
export async function list(
  ctx: Ctx,
  { projectId }: { projectId?: string | undefined },
): Promise<{ items: Connection[] }> {
  const place = await placeToManage(ctx, projectId);
  const rows = await credentialsOf(place.organizationId);
  const serves = (row: CredentialRow) =>
    isReachedBy(ctx, row) &&
    (place.projectId === null || row.bindings.some(({ project_id }) => project_id === place.projectId));
  return { items: await toConnections(ctx, place.organizationId, rows.filter(serves)) };
}

/** Returns one connection with its health. */
export async function get(ctx: Ctx, connectionId: string): Promise<ConnectionDetail> {
  const connection = await readConnection(ctx, connectionId);
  return { ...connection, health: await connectionHealth(connection, ctx.now()) };
}

/**
 * Returns one connection to a caller who may change it. Throws `NotFound` for strangers and for a key that does
 * not reach it, and `AuthorizationFailed` for a member who is no admin and for any key but a management key.
 */
export async function readConnection(ctx: Ctx, connectionId: string): Promise<Connection> {
  const organizationId = await ownerOf(ctx, connectionId);
  const row = await getCredential(ctx, organizationId, connectionId);
  const [connection] = await toConnections(ctx, organizationId, [row]);
  return connection!; // one row gives one connection
}

/** Returns the environments that a connection serves. */
export async function bindings(ctx: Ctx, connectionId: string): Promise<{ items: CredentialBinding[] }> {
  return { items: (await readConnection(ctx, connectionId)).bindings };
}

/** Converts credentials to connections, with their guardrails and spend. */
async function toConnections(ctx: Ctx, organizationId: string, rows: CredentialRow[]): Promise<Connection[]> {
  const guardrails = await connectionGuardrails(ctx, organizationId, rows);
  return rows.map((row) => {
    const { credentialId: id, ...credential } = toCredential(row);
    const { spend = null, dailyMicros = null, perExecutionMicros = null } = guardrails.get(id) ?? {};
    return {
      id,
      ...credential,
      bootstrapMode: "manual_api_key",
      userGuardrails: { dailyMicros, perExecutionMicros },
      spend,
    };
  });
}
