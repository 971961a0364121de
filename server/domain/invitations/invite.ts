import { hash, randomBytes } from "node:crypto";
import type { Invitation, Invite } from "@/server/contract/members";
import { Role } from "@/server/contract/organizations";
import { access, isRoleAtLeast, roleIn } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { canWriteLetters, invitationToken, writeInvitation } from "@/server/domain/notifications";
import { requireSeat } from "@/server/domain/organizations";
import type { Settings } from "@/server/domain/plans";
import { invitation, organization, userAccount } from "@/server/generated/schema";
import { inTransaction, pool, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import { column, int4, maybe, names, type Of, pick, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const LIFETIME_MS = 7 * DAY_MS;
/** An organization may send this many invitation emails in 24 hours, so that it cannot fill anyone's mailbox. */
const MOST_LETTERS_A_DAY = 200;
/** The email of an invitation can be sent again only after this time. */
const LETTER_EVERY_MS = 60_000;

const ROW = pick(invitation, "id organization_id email role nonce invited_by sent_at expires_at");
type Row = Of<typeof ROW> & { inviter?: string | null };

const listOpen = statement("invitation.list.open", {
  params: { organizationId: text },
  row: { ...ROW, inviter: maybe(userAccount.email) },
  sql: `SELECT ${names(ROW, "invitation")}, (SELECT email FROM user_account WHERE id = invited_by) AS inviter FROM invitation
     WHERE organization_id = $organizationId AND accepted_at IS NULL AND withdrawn_at IS NULL ORDER BY id DESC`,
});

/**
 * Returns the open invitations of an organization, including expired ones, newest first. Only its admins and owners may
 * call this.
 */
export async function invitationsOf(ctx: Ctx, organizationId: string): Promise<Invitation[]> {
  access.authorize(ctx, "admin", { organizationId });
  const rows = await listOpen.all(pool, { organizationId });
  return rows.map((row) => toInvitation(ctx, row));
}

const findMember = statement("membership.find.email", {
  params: { organizationId: text, email: text },
  sql: `SELECT FROM membership JOIN user_account ON user_account.id = user_id WHERE organization_id = $organizationId AND email = $email`,
});

const findOpen = statement("invitation.find.open", {
  params: { organizationId: text, email: text },
  row: pick(invitation, "id"),
  sql: `SELECT id FROM invitation WHERE organization_id = $organizationId AND email = $email AND accepted_at IS NULL AND withdrawn_at IS NULL`,
});

const addInvitation = statement("invitation.insert", {
  params: {
    invitationId: invitation.id,
    organizationId: invitation.organization_id,
    email: invitation.email,
    role: invitation.role,
    nonce: invitation.nonce,
    tokenHash: invitation.token_hash,
    principalId: invitation.invited_by,
    now: timestamptz,
    expiresAt: timestamptz,
  },
  row: ROW,
  sql: `INSERT INTO invitation (id, organization_id, email, role, nonce, token_hash, invited_by, created_at, sent_at, expires_at)
       VALUES ($invitationId, $organizationId, $email, $role, $nonce, $tokenHash, $principalId, $now, $now, $expiresAt) RETURNING ${names(ROW)}`,
});

/**
 * Offers an email address a place in an organization, with a link that works once and for seven days. Only admins and
 * owners may invite, to no role above their own. The link is only in the email, so that no one but a reader of that
 * mailbox can accept. Throws `InvalidInput` for a member, for an address that is already invited and if this installation
 * sends no email, and `RateLimited` above the limit of emails.
 */
export async function invite(ctx: Ctx, { organizationId, email, role }: Invite): Promise<Invitation> {
  const own = access.authorize(ctx, "admin", { organizationId });
  if (!isRoleAtLeast(own, role))
    fail("AuthorizationFailed", `Only an owner can invite owners. Your role is ${own}.`, { role: own });
  return inTransaction(async (client) => {
    const organizationName = await lockSeat(ctx, client, organizationId, email);
    await refuseTooMany(ctx, client, organizationId);
    const members = await findMember.all(client, { organizationId, email });
    if (members.length > 0) fail("InvalidInput", "This person already belongs to the organization.");
    const open = await findOpen.all(client, { organizationId, email });
    if (open[0])
      fail("InvalidInput", "This address already has an invitation. Send it again, or withdraw it.", {
        invitationId: open[0].id,
      });
    const id = newId("invitation");
    const now = ctx.now();
    const { nonce, tokenHash, expiresAt } = makeToken(id, now);
    const found = await addInvitation.first(client, {
      invitationId: id,
      organizationId,
      email,
      role,
      nonce,
      tokenHash,
      principalId: ctx.principal.id,
      now,
      expiresAt,
    });
    const row = found!; // `INSERT … RETURNING` of one row returns one row
    await send(ctx, client, row, organizationName);
    await record(
      ctx,
      { organizationId, subject: id, action: "invitation.sent", details: { email, role } },
      client,
    );
    return toInvitation(ctx, { ...row, inviter: nameOf(ctx) });
  });
}

const renewLink = statement("invitation.update.resent", {
  params: {
    invitationId: text,
    nonce: invitation.nonce,
    tokenHash: invitation.token_hash,
    principalId: invitation.invited_by,
    now: timestamptz,
    expiresAt: timestamptz,
  },
  row: ROW,
  sql: `UPDATE invitation SET nonce = $nonce, token_hash = $tokenHash, invited_by = $principalId, sent_at = $now, expires_at = $expiresAt WHERE id = $invitationId
       RETURNING ${names(ROW)}`,
});

/**
 * Sends another email with a new link for another seven days, and the previous link stops working. Only admins and owners
 * may call this, and only an owner for an owner's invitation. Throws `RateLimited` if the last email was just sent or the
 * limit of emails is reached.
 */
export async function resendInvitation(ctx: Ctx, invitationId: string): Promise<Invitation> {
  return inTransaction(async (client) => {
    const before = await lockOpen(ctx, client, invitationId);
    const organizationId = before.organization_id;
    const organizationName = await lockSeat(ctx, client, organizationId, before.email);
    await refuseTooMany(ctx, client, organizationId);
    const now = ctx.now();
    const waitMs = before.sent_at.getTime() + LETTER_EVERY_MS - now.getTime();
    if (waitMs > 0) tooSoon("This invitation was just sent. Wait a moment before you send it again.", waitMs);
    const { nonce, tokenHash, expiresAt } = makeToken(invitationId, now);
    const found = await renewLink.first(client, {
      invitationId,
      nonce,
      tokenHash,
      principalId: ctx.principal.id,
      now,
      expiresAt,
    });
    const row = found!; // the row was locked above
    await send(ctx, client, row, organizationName);
    const details = { email: row.email, role: row.role };
    await record(
      ctx,
      { organizationId, subject: invitationId, action: "invitation.resent", details },
      client,
    );
    return toInvitation(ctx, { ...row, inviter: nameOf(ctx) });
  });
}

const markWithdrawn = statement("invitation.update.withdrawn", {
  params: { invitationId: text, now: timestamptz },
  sql: `UPDATE invitation SET withdrawn_at = $now WHERE id = $invitationId`,
});

/**
 * Withdraws an invitation: its link stops working, and an email that is still queued is not sent. Only admins and owners
 * may call this, and only an owner for an owner's invitation.
 */
export async function withdrawInvitation(ctx: Ctx, invitationId: string): Promise<void> {
  await inTransaction(async (client) => {
    const { organization_id: organizationId, email, role } = await lockOpen(ctx, client, invitationId);
    await markWithdrawn.run(client, { invitationId, now: ctx.now() });
    const act = { organizationId, subject: invitationId, action: "invitation.withdrawn" };
    await record(ctx, { ...act, details: { email, role } }, client);
  });
}

const lockInvitation = statement("invitation.lock.open", {
  params: { invitationId: text },
  row: ROW,
  sql: `SELECT ${names(ROW)} FROM invitation WHERE id = $invitationId AND accepted_at IS NULL AND withdrawn_at IS NULL FOR UPDATE`,
});

async function lockOpen(ctx: Ctx, client: Transaction, invitationId: string): Promise<Row> {
  const row = await lockInvitation.first(client, { invitationId });
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such invitation.");
  const own = access.authorize(ctx, "admin", { organizationId: row.organization_id });
  if (!isRoleAtLeast(own, Role.parse(row.role)))
    fail("AuthorizationFailed", `Only an owner can change this invitation. Your role is ${own}.`, {
      role: own,
    });
  return row;
}

const lockOrganization = statement("organization.lock.seats", {
  params: { organizationId: text },
  row: {
    display_name: organization.display_name,
    settings: column<Settings>("jsonb"),
  },
  sql: `SELECT display_name, settings FROM organization WHERE id = $organizationId FOR NO KEY UPDATE`,
});

const seatsOf = statement("organization.list.seats", {
  params: { organizationId: text, now: timestamptz },
  row: { email: present(text, "capstan_seats selects addresses from columns that are never null") },
  sql: `SELECT email FROM capstan_seats($organizationId, $now) AS email`,
});

/**
 * Locks the organization, so that calls that take a seat run one after another and their counts stay true. Returns its
 * name. Throws if its plan has no seat left for this address.
 */
export async function lockSeat(
  ctx: Ctx,
  client: Transaction,
  organizationId: string,
  email: string,
): Promise<string> {
  const row =
    (await lockOrganization.first(client, { organizationId })) ??
    fail("NotFound", "There is no such organization.");
  const seated = await seatsOf.all(client, { organizationId, now: ctx.now() });
  requireSeat(
    row.settings,
    seated.map((each) => each.email),
    email,
  );
  return row.display_name;
}

const countLetters = statement("mail.count.invitations_since", {
  params: { organizationId: text, since: timestamptz },
  row: { count: int4, oldest: maybe(timestamptz) },
  sql: `SELECT count(*)::int AS count, min(mail.created_at) AS oldest FROM mail JOIN invitation ON invitation.id = invitation_id
     WHERE organization_id = $organizationId AND mail.created_at > $since`,
});

async function refuseTooMany(ctx: Ctx, client: Transaction, organizationId: string): Promise<void> {
  if (!canWriteLetters())
    fail(
      "InvalidInput",
      "This installation does not send email, so it cannot send invitations. Ask your operator to create the account.",
      {
        reason: "no_mail",
      },
    );
  const { count = 0, oldest = null } =
    (await countLetters.first(client, {
      organizationId,
      since: new Date(ctx.now().getTime() - DAY_MS),
    })) ?? {};
  if (count >= MOST_LETTERS_A_DAY && oldest)
    tooSoon(
      "Too many invitations were sent today. Try again tomorrow.",
      oldest.getTime() + DAY_MS - ctx.now().getTime(),
    );
}

function tooSoon(message: string, waitMs: number): never {
  fail("RateLimited", message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

function makeToken(invitationId: string, now: Date) {
  const nonce = randomBytes(16).toString("base64url");
  const tokenHash = hash("sha256", invitationToken(invitationId, nonce), "buffer");
  return { nonce, tokenHash, expiresAt: new Date(now.getTime() + LIFETIME_MS) };
}

function send(ctx: Ctx, client: Transaction, row: Row, organizationName: string): Promise<void> {
  const { id: invitationId, nonce, email, role, expires_at: expiresAt } = row;
  const invitedBy = nameOf(ctx);
  return writeInvitation(client, ctx, {
    invitationId,
    nonce,
    email,
    role,
    expiresAt,
    organizationName,
    invitedBy,
  });
}

const nameOf = ({ principal }: Ctx) =>
  principal.kind === "human_session" ? principal.email : "The operator of this installation";

function toInvitation(ctx: Ctx, row: Row): Invitation {
  return {
    invitationId: row.id,
    organizationId: row.organization_id,
    email: row.email,
    role: Role.parse(row.role),
    invitedBy: row.inviter ?? row.invited_by,
    sentAt: row.sent_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    isExpired: row.expires_at <= ctx.now(),
  };
}
