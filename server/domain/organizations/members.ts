import type { Member, RemovedMember } from "@/server/contract/members";
import { Role } from "@/server/contract/organizations";
import { access, changeAccess, isOperator, isRoleAtLeast } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx, Role as RoleName } from "@/server/domain/ctx";
import { apiKey, membership, userAccount } from "@/server/generated/schema";
import { pool, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { int4, pick, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const listMembers = statement("membership.list.organization", {
  params: { organizationId: text, now: timestamptz },
  row: {
    ...pick(membership, "user_id role created_at"),
    ...pick(userAccount, "email display_name"),
    keys: int4,
  },
  sql: `SELECT user_id, email, display_name, role, membership.created_at,
       (SELECT count(*)::int FROM api_key WHERE api_key.organization_id = $organizationId AND created_by = user_id
          AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $now)) AS keys
     FROM membership JOIN user_account ON user_account.id = user_id
     WHERE membership.organization_id = $organizationId ORDER BY membership.created_at, user_id`,
});

/**
 * Members of an organization, in the order in which they joined. Only its members and operators may read
 * them.
 */
export async function membersOf(ctx: Ctx, organizationId: string): Promise<Member[]> {
  access.authorize(ctx, "viewer", { organizationId });
  const rows = await listMembers.all(pool, { organizationId, now: ctx.now() });
  return rows.map((row) => ({
    userId: row.user_id,
    email: row.email,
    displayName: row.display_name,
    role: Role.parse(row.role),
    isYou: row.user_id === ctx.principal.id,
    activeKeys: row.keys,
    joinedAt: row.created_at.toISOString(),
  }));
}

const updateRole = statement("membership.update.role", {
  params: { organizationId: text, userId: text, role: membership.role },
  sql: `UPDATE membership SET role = $role WHERE organization_id = $organizationId AND user_id = $userId`,
});

/**
 * Gives a member another role, effective from the next request. Only admins and owners may call this: no one
 * grants a role above their own or changes a member above them, and at least one owner always stays.
 */
export async function changeRole(
  ctx: Ctx,
  { organizationId, userId, role }: { organizationId: string; userId: string; role: RoleName },
): Promise<void> {
  access.authorize(ctx, "admin", { organizationId });
  await changeAccess(async (client) => {
    const { own, target, owners } = await lockMembers(ctx, client, organizationId, userId);
    if (!isRoleAtLeast(own, "admin"))
      tooLow(own, "This needs the role admin in the organization. Ask an owner for it.");
    if (!isRoleAtLeast(own, role))
      tooLow(own, `Only an owner can make someone an owner. Your role is ${own}.`);
    if (!isRoleAtLeast(own, target.role))
      tooLow(own, `Only an owner can change an owner's role. Your role is ${own}.`);
    if (role === target.role) return;
    if (target.role === "owner" && owners === 1) lastOwner();
    await updateRole.run(client, { organizationId, userId, role });
    const details = { email: target.email, before: target.role, after: role };
    await record(ctx, { organizationId, subject: userId, action: "member.role_changed", details }, client);
  });
}

const deleteMember = statement("membership.delete", {
  params: { organizationId: text, userId: text },
  sql: `DELETE FROM membership WHERE organization_id = $organizationId AND user_id = $userId`,
});

const listKeysOf = statement("api_key.list.member", {
  params: { organizationId: text, userId: text, now: timestamptz },
  row: { ...pick(apiKey, "name prefix"), keyId: apiKey.id, projectId: apiKey.project_id },
  sql: `SELECT id AS "keyId", name, prefix, project_id AS "projectId" FROM api_key
       WHERE organization_id = $organizationId AND created_by = $userId AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $now)
       ORDER BY id DESC`,
});

/**
 * Ends a membership: from the next request on this person has no rights in the organization. Admins remove
 * members who are not above them, and everyone except the last owner may leave. The keys that the person
 * created keep working; the answer lists them, so that someone decides about each.
 */
export async function removeMember(
  ctx: Ctx,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<RemovedMember> {
  const isOwn = ctx.principal.kind === "human_session" && ctx.principal.id === userId;
  access.authorize(ctx, isOwn ? "viewer" : "admin", { organizationId });
  return changeAccess(async (client) => {
    const { own, target, owners } = await lockMembers(ctx, client, organizationId, userId);
    if (!isOwn && !isRoleAtLeast(own, "admin"))
      tooLow(own, "This needs the role admin in the organization. Ask an owner for it.");
    if (!isOwn && !isRoleAtLeast(own, target.role))
      tooLow(own, `Only an owner can remove an owner. Your role is ${own}.`);
    if (target.role === "owner" && owners === 1) lastOwner();
    await deleteMember.run(client, { organizationId, userId });
    const rows = await listKeysOf.all(client, { organizationId, userId, now: ctx.now() });
    const details = { email: target.email, role: target.role, keysLeft: rows.map(({ keyId }) => keyId) };
    const action = isOwn ? "member.left" : "member.removed";
    await record(ctx, { organizationId, subject: userId, action, details }, client);
    return { userId, email: target.email, keys: rows };
  });
}

type Locked = { own: RoleName; target: { email: string; role: RoleName }; owners: number };

const lockAll = statement("membership.lock.organization", {
  params: { organizationId: text },
  row: {
    ...pick(membership, "user_id role"),
    email: present(text, "a membership is of a user account"),
  },
  sql: `SELECT user_id, role, (SELECT email FROM user_account WHERE id = user_id) AS email FROM membership
     WHERE organization_id = $organizationId ORDER BY user_id FOR UPDATE`,
});

/**
 * Reads and locks the roles of an organization until the end of the transaction. Changes of its memberships
 * wait here, so two cannot both count the same last owner, and an admin who was just demoted is no longer an
 * admin.
 */
async function lockMembers(
  ctx: Ctx,
  client: Transaction,
  organizationId: string,
  userId: string,
): Promise<Locked> {
  const rows = await lockAll.all(client, { organizationId });
  const members = rows.map((row) => ({ ...row, role: Role.parse(row.role) }));
  const mine = members.find((each) => each.user_id === ctx.principal.id)?.role;
  const own = isOperator(ctx) ? "owner" : (mine ?? fail("NotFound", "There is no such organization."));
  const target =
    members.find((each) => each.user_id === userId) ?? fail("NotFound", "There is no such member.");
  return { own, target, owners: members.filter(({ role }) => role === "owner").length };
}

function tooLow(role: RoleName, message: string): never {
  fail("AuthorizationFailed", message, { role });
}

function lastOwner(): never {
  fail("LastOwner", "An organization needs at least one owner. Make someone else an owner first.");
}
