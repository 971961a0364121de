import type { ChangeSecurity, SecurityView } from "@/server/contract/security";
import { access, changeAccess, isRoleAtLeast, securityOf } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { pool, type Queryable } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { bool, int4, jsonb, maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const readOwn = statement("organization.read.security", {
  params: { organizationId: text, principalId: text },
  row: {
    settings: maybe(jsonb()),
    members: int4,
    members_without: int4,
    has_second_factor: bool,
  },
  sql: `SELECT settings->'security' AS settings,
       (SELECT count(*)::int FROM membership WHERE organization_id = organization.id) AS members,
       (SELECT count(*)::int FROM membership JOIN user_account ON user_account.id = user_id
        WHERE organization_id = organization.id AND second_factor_at IS NULL) AS members_without,
       EXISTS (SELECT FROM user_account WHERE id = $principalId AND second_factor_at IS NOT NULL) AS has_second_factor
     FROM organization WHERE id = $organizationId`,
});

/**
 * Requirements of an organization for its members' sessions. For its members. InvalidInput if the settings
 * are damaged.
 */
export async function readSecurity(ctx: Ctx, organizationId: string): Promise<SecurityView> {
  const role = access.authorize(ctx, "viewer", { organizationId });
  const row =
    (await readOwn.first(pool, { organizationId, principalId: ctx.principal.id })) ?? noOrganization();
  return {
    ...(securityOf(row.settings) ??
      fail(
        "InvalidInput",
        "The security settings of this organization are damaged. Ask your operator to restore them.",
      )),
    members: row.members,
    membersWithout: isRoleAtLeast(role, "owner") ? row.members_without : null,
    hasSecondFactor: row.has_second_factor,
  };
}

const lockRules = statement("organization.lock.security", {
  params: { organizationId: text },
  row: { security: maybe(jsonb()) },
  sql: `SELECT settings->'security' AS security FROM organization WHERE id = $organizationId FOR NO KEY UPDATE`,
});

const storeRules = statement("organization.update.security", {
  params: { organizationId: text, after: jsonb<Json>() },
  sql: `UPDATE organization SET settings = settings || jsonb_build_object('security', $after::jsonb) WHERE id = $organizationId`,
});

/**
 * Changes the requirements for members' sessions; they take effect at the next request, in every process. For
 * owners. A person can require a second factor only if they have one, so that no one locks themselves out.
 */
export async function setSecurity(
  ctx: Ctx,
  organizationId: string,
  { requireSecondFactor, sessionHours }: ChangeSecurity,
): Promise<SecurityView> {
  access.authorize(ctx, "owner", { organizationId });
  await changeAccess(async (client) => {
    const found = await lockRules.first(client, { organizationId });
    const stored = (found ?? noOrganization()).security;
    const before = securityOf(stored);
    if (requireSecondFactor && !before?.requireSecondFactor) await requireOwnFactor(ctx, client);
    // Settings that cannot be read are replaced as a whole.
    const after = {
      ...(before ?? { requireSecondFactor: false, sessionHours: null }),
      ...(requireSecondFactor === undefined ? {} : { requireSecondFactor }),
      ...(sessionHours === undefined ? {} : { sessionHours }),
    };
    await storeRules.run(client, { organizationId, after });
    const details = { before, after };
    await record(
      ctx,
      { organizationId, subject: organizationId, action: "security.changed", details },
      client,
    );
  });
  return readSecurity(ctx, organizationId);
}

const lockFactor = statement("user_account.lock.second_factor", {
  params: { principalId: text },
  row: { has: bool },
  sql: `SELECT second_factor_at IS NOT NULL AS has FROM user_account WHERE id = $principalId FOR SHARE`,
});

/**
 * Locks the person's row: turning off a second factor completes before this check, or waits until the
 * requirement is stored.
 */
async function requireOwnFactor({ principal }: Ctx, client: Queryable): Promise<void> {
  if (principal.kind !== "human_session") return; // the admin command has no session
  const row = await lockFactor.first(client, { principalId: principal.id });
  if (!row?.has)
    fail("PolicyRejected", "Set up your own second factor first. Without one you would lock yourself out.");
}

function noOrganization(): never {
  fail("NotFound", "There is no such organization.");
}
