import type { RotateApiKey } from "@/server/contract/keys";
import { type NewApiKey, Scope } from "@/server/contract/organizations";
import { changeAccess, makeKeyText } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { replace, transferBudgets } from "./key-rows";
import {
  auditedFields,
  endWithin,
  insertKey,
  keyAuditSubject,
  lockKey,
  refuseMoreThanOwn,
  toKey,
} from "./keys";

/**
 * Creates a key that replaces another: same name, project, environment and scopes, and the same lifetime, but
 * no longer than that of the management key that created the old one. The old key works until the overlap
 * ends, or until its own end if that is sooner. The caller receives the new key, so the old key's scopes must
 * be within their role or the management key's grant. Throws KeyNotRotatable for a management key, and for a
 * key that has ended or was already rotated; AuthenticationFailed if the management key that created the old
 * one has ended.
 */
export async function rotateKey(
  ctx: Ctx,
  keyId: string,
  { overlapSeconds }: RotateApiKey,
): Promise<NewApiKey> {
  return changeAccess(async (client) => {
    const old = await lockKey(client, ctx, keyId);
    if (old.management)
      fail("KeyNotRotatable", "A management key cannot be rotated. Ask an owner to create another one.", {
        keyId,
        replacedBy: null,
      });
    refuseMoreThanOwn(
      ctx,
      old.organizationId,
      Scope.options.filter((scope) => old.scopes.includes(scope)),
    );
    const now = ctx.now();
    const hasEnded = old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt <= now);
    if (hasEnded || old.replacedBy)
      fail("KeyNotRotatable", "This key is revoked, expired or already rotated. Create a new one.", {
        keyId,
        replacedBy: old.replacedBy,
      });
    const { organizationId, projectId, environment, name, scopes, madeByKey } = old;
    const lifetimeMs = old.expiresAt && old.expiresAt.getTime() - old.createdAt.getTime();
    const wanted = lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs);
    const expiresAt = await endWithin(client, madeByKey, wanted, now);
    const apiKey = makeKeyText(environment);
    const place = { organizationId, projectId, environment };
    const kept = { ...place, name, scopes, madeByKey };
    const made = await insertKey(client, ctx, apiKey, { ...kept, expiresAt, createdAt: now });
    const overlapEnd = new Date(now.getTime() + overlapSeconds * 1000);
    const end = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
    const ended = overlapSeconds === 0 ? { revokedAt: now } : { expiresAt: end };
    await replace.run(client, { keyId, replacedBy: made.id, ...ended });
    // The old key's budgets become the new key's; while both work, they share them.
    const passed = await transferBudgets.first(client, { organizationId, keyId, successorId: made.id, now });
    const details = {
      ...auditedFields(made),
      replacedBy: made.id,
      overlapSeconds,
      oldPrefix: old.prefix,
      budgets: passed?.budgets ?? 0,
    };
    await record(ctx, { ...keyAuditSubject(old), action: "key.rotated", details }, client);
    return { ...toKey(made), apiKey };
  });
}
