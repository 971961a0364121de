import type { Ctx } from "@/server/domain/ctx";
import { connectionCheck } from "@/server/generated/schema";
import type { Secret } from "@/server/platform/crypto/secret";
import type { Queryable } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { deadline } from "@/server/platform/time/deadline";
import { ProviderFault } from "@/server/providers/define";
import type { Provider } from "@/server/providers/provider";
import { text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { isOperatorsAddress } from "./operator";

const CHECK_MS = 15_000;

/**
 * A provider's verdict on an account; `unreachable` if it could not be asked. `message` says why it is not
 * `ready`.
 */
export type CheckResult = { outcome: "ready" | "refused" | "unreachable"; message: string | null };

/** Asks the provider whether it accepts this account; `ready` if the provider offers no check. */
export async function askProvider(
  ctx: Ctx,
  provider: Provider,
  baseUrl: string,
  credentials: Record<string, Secret>,
): Promise<CheckResult> {
  try {
    await provider.check?.({
      baseUrl,
      credentials,
      signal: deadline(CHECK_MS, ctx.signal?.()),
      allowPrivateAddresses: env.ALLOW_PRIVATE_ADDRESSES,
      isOperatorsAddress: isOperatorsAddress(provider, baseUrl),
    });
    return { outcome: "ready", message: null };
  } catch (cause) {
    if (!(cause instanceof ProviderFault)) throw cause;
    return { outcome: cause.kind === "refused" ? "refused" : "unreachable", message: cause.message };
  }
}

/**
 * Throws if the provider refuses a secret, at the field `secret`; ProviderUnavailable if it could not be
 * asked.
 */
export async function requireAccepted(
  ctx: Ctx,
  provider: Provider,
  baseUrl: string,
  credentials: Record<string, Secret>,
): Promise<void> {
  const { outcome, message } = await askProvider(ctx, provider, baseUrl, credentials);
  if (outcome === "refused")
    throw new ValidationFault([{ loc: ["body", "secret"], msg: message ?? "", type: "refused_by_provider" }]);
  if (outcome === "unreachable")
    fail("ProviderUnavailable", `${provider.title} could not be reached to check this: ${message}`);
}

/** Most checks that are kept of one connection. */
const KEPT_CHECKS = 50;

const insertCheck = statement("connection_check.insert", {
  params: {
    connectionCheckId: connectionCheck.id,
    credentialId: text,
    outcome: connectionCheck.outcome,
    message: connectionCheck.message,
    at: timestamptz,
  },
  sql: `INSERT INTO connection_check (id, credential_id, outcome, message, at)
     SELECT $connectionCheckId, id, $outcome, $message, $at FROM credential WHERE id = $credentialId`,
});

const deleteOldChecks = statement("connection_check.delete.old", {
  params: { credentialId: text },
  sql: `DELETE FROM connection_check WHERE id IN (
       SELECT id FROM connection_check WHERE credential_id = $credentialId ORDER BY at DESC, id DESC OFFSET ${KEPT_CHECKS})`,
});

/** Stores a check in the caller's transaction, and deletes the oldest ones beyond the limit. */
export async function keepCheck(
  client: Queryable,
  credentialId: string,
  { outcome, message }: CheckResult,
  at: Date,
): Promise<void> {
  await insertCheck.run(client, {
    connectionCheckId: newId("connectionCheck"),
    credentialId,
    outcome,
    message,
    at,
  });
  await deleteOldChecks.run(client, { credentialId });
}
