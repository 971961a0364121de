import { hash } from "node:crypto";
import type { AcceptedInvitation, AcceptInvitation, OfferedPlace } from "@/server/contract/members";
import { Role } from "@/server/contract/organizations";
import { changeAccess, isRoleAtLeast } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { enforceBruteForceLimit, hashPassword } from "@/server/domain/organizations";
import { invitation, membership, organization, userAccount } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { maybe, names, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { lockSeat } from "./invite";

const OFFERED = pick(invitation, "id organization_id email role expires_at accepted_at withdrawn_at");
const ROW = {
  ...OFFERED,
  organization_name: organization.display_name,
  inviter: maybe(userAccount.email),
  inviter_role: maybe(membership.role),
  inviter_is_operator: maybe(userAccount.is_operator),
  known_id: maybe(userAccount.id),
};
type Row = Of<typeof ROW>;

/**
 * Returns the offer behind a link. Throws `NotFound` for an unknown token, and `Gone` for one that no longer works.
 * Guesses are limited by address.
 */
export function lookAtInvitation(ctx: Ctx, token: string): Promise<OfferedPlace> {
  return enforceBruteForceLimit(ctx, "invitation", async () => {
    const row = await findOpen(ctx, token, pool);
    return {
      organizationName: row.organization_name,
      email: row.email,
      role: Role.parse(row.role),
      invitedBy: row.inviter ?? "The operator of this installation",
      expiresAt: row.expires_at.toISOString(),
      isKnown: row.known_id !== null,
    };
  });
}

const lockInviter = statement("membership.lock.inviter", {
  params: { tokenHash: invitation.token_hash },
  sql: `SELECT FROM membership WHERE (user_id, organization_id) =
           (SELECT invited_by, organization_id FROM invitation WHERE token_hash = $tokenHash) FOR SHARE`,
});

const addMember = statement("membership.insert.invited", {
  params: {
    userId: membership.user_id,
    organizationId: membership.organization_id,
    role: membership.role,
    now: timestamptz,
  },
  sql: `INSERT INTO membership (user_id, organization_id, role, created_at) VALUES ($userId, $organizationId, $role, $now)
         ON CONFLICT (user_id, organization_id) DO NOTHING`,
});

const markAccepted = statement("invitation.update.accepted", {
  params: { invitationId: text, now: timestamptz, userId: invitation.accepted_by },
  sql: `UPDATE invitation SET accepted_at = $now, accepted_by = $userId WHERE id = $invitationId`,
});

/**
 * Accepts an invitation. A person with an account must be signed in with the invited address, and a new person creates
 * an account with a password. A token works once; of simultaneous calls, only one succeeds. Throws as
 * `lookAtInvitation` does.
 */
export function acceptInvitation(ctx: Ctx, input: AcceptInvitation): Promise<AcceptedInvitation> {
  return enforceBruteForceLimit(ctx, "invitation", async () => {
    const offered = await findOpen(ctx, input.token, pool);
    // Hashing takes a tenth of a second, so it is done only for the holder of a token, and outside the transaction.
    const isNewcomer = offered.known_id === null && ctx.principal.kind === "anonymous";
    const passwordHash = isNewcomer ? await hashPassword(input.password ?? noPassword()) : null;
    return changeAccess(async (client) => {
      // The lock orders this against a simultaneous removal or demotion of the inviter: that change is written either
      // before the invitation is checked or after it was accepted.
      await lockInviter.run(client, { tokenHash: hash("sha256", input.token, "buffer") });
      const row = await findOpen(ctx, input.token, client);
      const userId = passwordHash
        ? await makeAccount(ctx, client, row, { passwordHash, displayName: input.displayName })
        : ownAccount(ctx, row);
      const organizationId = row.organization_id;
      // The invitation already has its seat, but the plan may have shrunk since.
      await lockSeat(ctx, client, organizationId, row.email);
      const rowCount = await addMember.count(client, {
        userId,
        organizationId,
        role: row.role,
        now: ctx.now(),
      });
      await markAccepted.run(client, { invitationId: row.id, now: ctx.now(), userId });
      const isNew = passwordHash !== null;
      const details = { userId, email: row.email, role: row.role, isNew, wasMember: rowCount === 0 };
      const act = { organizationId, subject: row.id, action: "invitation.accepted", details };
      await record(asPerson(ctx, userId, row.email), act, client);
      return { organizationId, email: row.email, isNew };
    });
  });
}

const readByToken = (name: string, lock: "" | "FOR UPDATE OF invitation") =>
  statement(name, {
    params: { tokenHash: invitation.token_hash },
    row: ROW,
    sql: `SELECT ${names(OFFERED, "invitation")}, organization.display_name AS organization_name, inviter.email AS inviter,
       inviter.is_operator AS inviter_is_operator,
       (SELECT role FROM membership WHERE user_id = invited_by AND membership.organization_id = invitation.organization_id)
         AS inviter_role,
       (SELECT id FROM user_account WHERE user_account.email = invitation.email) AS known_id
     FROM invitation JOIN organization ON organization.id = invitation.organization_id
     LEFT JOIN user_account inviter ON inviter.id = invited_by
     WHERE token_hash = $tokenHash ${lock}`,
  });
const readOffered = readByToken("invitation.read.offered", "");
const lockOffered = readByToken("invitation.lock.offered", "FOR UPDATE OF invitation");

/** Returns the invitation with this token. Throws if it no longer works. A transaction also locks the row. */
async function findOpen(ctx: Ctx, token: string, database: Queryable): Promise<Row> {
  const read = database === pool ? readOffered : lockOffered;
  const row =
    (await read.first(database, { tokenHash: hash("sha256", token, "buffer") })) ??
    fail("NotFound", "There is no such invitation.");
  if (row.accepted_at)
    fail("Gone", "This invitation was already accepted. Sign in instead.", { reason: "accepted" });
  if (row.withdrawn_at)
    fail("Gone", "This invitation was withdrawn. Ask for a new one.", { reason: "withdrawn" });
  if (row.expires_at <= ctx.now())
    fail("Gone", "This invitation has expired. Ask for a new one.", { reason: "expired" });
  if (!stillMay(row))
    fail("Gone", "The person who sent this invitation can no longer invite people. Ask for a new one.", {
      reason: "inviter",
    });
  return row;
}

/**
 * True if the inviter could still give this role. An invitation does not work if they were removed or demoted
 * since.
 */
function stillMay({ inviter, inviter_is_operator, inviter_role, role }: Row): boolean {
  if (inviter === null || inviter_is_operator) return true; // the admin command or an operator sent it
  if (inviter_role === null) return false;
  const now = Role.parse(inviter_role);
  return isRoleAtLeast(now, "admin") && isRoleAtLeast(now, Role.parse(role));
}

function ownAccount({ principal }: Ctx, row: Row): string {
  if (principal.kind === "human_session" && principal.email === row.email) return principal.id;
  if (principal.kind === "human_session")
    fail("AuthorizationFailed", `This invitation is for ${row.email}. Sign in with that address.`, {
      email: row.email,
    });
  return fail("AuthenticationFailed", `Sign in as ${row.email} to accept.`, { email: row.email });
}

const addAccount = statement("user_account.insert.invited", {
  params: {
    accountId: userAccount.id,
    email: userAccount.email,
    displayName: userAccount.display_name,
    passwordHash: userAccount.password_hash,
    now: timestamptz,
  },
  sql: `INSERT INTO user_account (id, email, display_name, password_hash, created_at) VALUES ($accountId, $email, $displayName, $passwordHash, $now)
     ON CONFLICT (email) DO NOTHING`,
});

async function makeAccount(
  ctx: Ctx,
  client: Queryable,
  { email }: Row,
  { passwordHash, displayName }: { passwordHash: string; displayName: string | undefined },
): Promise<string> {
  const id = newId("user");
  const rowCount = await addAccount.count(client, {
    accountId: id,
    email,
    displayName: displayName ?? email.slice(0, email.indexOf("@")),
    passwordHash,
    now: ctx.now(),
  });
  // Another request created the account a moment ago.
  if (rowCount === 0) fail("AuthenticationFailed", `Sign in as ${email} to accept.`, { email });
  return id;
}

function noPassword(): never {
  const msg = "Choose a password.";
  throw new ValidationFault([{ loc: ["body", "password"], msg, type: "missing" }]);
}

/**
 * Returns a context that names the person who joined as the principal, even if they had no account when they called.
 */
function asPerson(ctx: Ctx, userId: string, email: string): Ctx {
  if (ctx.principal.kind === "human_session") return ctx;
  const memberships = new Map();
  return { ...ctx, principal: { kind: "human_session", id: userId, email, memberships, isOperator: false } };
}
