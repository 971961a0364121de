import { hash, randomBytes } from "node:crypto";
import type { Invitation, Invite } from "@/server/contract/members";
import { Role } from "@/server/contract/organizations";
import { access, isAtLeast, roleIn } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { canWriteLetters, invitationToken, writeInvitation } from "@/server/domain/notifications";
import { requireSeat } from "@/server/domain/organizations";
import type { Settings } from "@/server/domain/plans";
import { inTransaction, pool, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";

const LIFETIME_MS = 7 * DAY_MS;
/** An organization sends at most so many letters a day: no one's mail box is filled from here. */
const MOST_LETTERS_A_DAY = 200;
/** And one address gets at most one so often. */
const LETTER_EVERY_MS = 60_000;

export type Row = {
  id: string;
  organization_id: string;
  email: string;
  role: string;
  nonce: string;
  invited_by: string;
  inviter?: string | null;
  sent_at: Date;
  expires_at: Date;
};

/** The invitations of an organization that wait, expired ones too, newest first. For its admins. */
export async function invitationsOf(ctx: Ctx, organizationId: string): Promise<Invitation[]> {
  access.authorize(ctx, "admin", { organizationId });
  const { rows } = await pool.query<Row>(
    `SELECT invitation.*, (SELECT email FROM user_account WHERE id = invited_by) AS inviter FROM invitation
     WHERE organization_id = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL ORDER BY id DESC`,
    [organizationId],
  );
  return rows.map((row) => toInvitation(ctx, row));
}

/**
 * Offers an e-mail address a place in an organization, by a letter with a link that works once and for seven days. For
 * admins; no one offers a role above their own. The link is in the letter and nowhere else, so only who reads mail at
 * that address can accept.
 */
export async function invite(ctx: Ctx, { organizationId, email, role }: Invite): Promise<Invitation> {
  const own = access.authorize(ctx, "admin", { organizationId });
  if (!isAtLeast(own, role))
    fail("AuthorizationFailed", `Only an owner can invite owners. Your role is ${own}.`, { role: own });
  return inTransaction(async (client) => {
    const organizationName = await lockSeat(ctx, client, organizationId, email);
    await refuseTooMany(ctx, client, organizationId);
    const { rows: members } = await client.query(
      `SELECT FROM membership JOIN user_account ON user_account.id = user_id WHERE organization_id = $1 AND email = $2`,
      [organizationId, email],
    );
    if (members.length > 0) fail("InvalidInput", "This person already belongs to the organization.");
    const { rows: open } = await client.query<Row>(
      `SELECT * FROM invitation WHERE organization_id = $1 AND email = $2 AND accepted_at IS NULL AND withdrawn_at IS NULL`,
      [organizationId, email],
    );
    if (open[0])
      fail("InvalidInput", "This address already has an invitation. Send it again, or withdraw it.", {
        invitationId: open[0].id,
      });
    const id = newId("invitation");
    const now = ctx.now();
    const { nonce, tokenHash, expiresAt } = makeToken(id, now);
    const { rows } = await client.query<Row>(
      `INSERT INTO invitation (id, organization_id, email, role, nonce, token_hash, invited_by, created_at, sent_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9) RETURNING *`,
      [id, organizationId, email, role, nonce, tokenHash, ctx.principal.id, now, expiresAt],
    );
    const row = rows[0]!; // INSERT … RETURNING of one row
    await send(ctx, client, row, organizationName);
    await record(
      ctx,
      { organizationId, subject: id, action: "invitation.sent", details: { email, role } },
      client,
    );
    return toInvitation(ctx, { ...row, inviter: nameOf(ctx) });
  });
}

/** Sends a new letter with a new link for another seven days; the previous link no longer works. For admins. */
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
    const { rows } = await client.query<Row>(
      `UPDATE invitation SET nonce = $2, token_hash = $3, invited_by = $4, sent_at = $5, expires_at = $6 WHERE id = $1
       RETURNING *`,
      [invitationId, nonce, tokenHash, ctx.principal.id, now, expiresAt],
    );
    const row = rows[0]!; // it was locked above
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

/** Takes an invitation back: its link no longer works, and a letter that has not left stays. For admins. */
export async function withdrawInvitation(ctx: Ctx, invitationId: string): Promise<void> {
  await inTransaction(async (client) => {
    const { organization_id: organizationId, email, role } = await lockOpen(ctx, client, invitationId);
    await client.query("UPDATE invitation SET withdrawn_at = $2 WHERE id = $1", [invitationId, ctx.now()]);
    const act = { organizationId, subject: invitationId, action: "invitation.withdrawn" };
    await record(ctx, { ...act, details: { email, role } }, client);
  });
}

async function lockOpen(ctx: Ctx, client: Transaction, invitationId: string): Promise<Row> {
  const { rows } = await client.query<Row>(
    `SELECT * FROM invitation WHERE id = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL FOR UPDATE`,
    [invitationId],
  );
  const row = rows[0];
  if (!row || !roleIn(ctx, row.organization_id)) fail("NotFound", "There is no such invitation.");
  const own = access.authorize(ctx, "admin", { organizationId: row.organization_id });
  if (!isAtLeast(own, Role.parse(row.role)))
    fail("AuthorizationFailed", `Only an owner can change this invitation. Your role is ${own}.`, {
      role: own,
    });
  return row;
}

/**
 * Those who take a seat of one organization come one after the other, so that what they count holds. Refuses where its plan
 * has none left for this address.
 */
export async function lockSeat(
  ctx: Ctx,
  client: Transaction,
  organizationId: string,
  email: string,
): Promise<string> {
  const { rows } = await client.query<{ display_name: string; settings: Settings }>(
    "SELECT display_name, settings FROM organization WHERE id = $1 FOR NO KEY UPDATE",
    [organizationId],
  );
  const row = rows[0] ?? fail("NotFound", "There is no such organization.");
  const { rows: seated } = await client.query<{ email: string }>(
    "SELECT email FROM capstan_seats($1, $2) AS email",
    [organizationId, ctx.now()],
  );
  requireSeat(
    row.settings,
    seated.map((each) => each.email),
    email,
  );
  return row.display_name;
}

async function refuseTooMany(ctx: Ctx, client: Transaction, organizationId: string): Promise<void> {
  if (!canWriteLetters())
    fail(
      "InvalidInput",
      "This installation does not send email, so it cannot send invitations. Ask your operator to create the account.",
      {
        reason: "no_mail",
      },
    );
  const { rows } = await client.query<{ count: number; oldest: Date | null }>(
    `SELECT count(*)::int AS count, min(mail.created_at) AS oldest FROM mail JOIN invitation ON invitation.id = invitation_id
     WHERE organization_id = $1 AND mail.created_at > $2`,
    [organizationId, new Date(ctx.now().getTime() - DAY_MS)],
  );
  const { count = 0, oldest = null } = rows[0] ?? {};
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
