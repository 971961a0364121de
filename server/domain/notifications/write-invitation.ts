import type { Queryable } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { newId } from "@/server/ids";
import { invitationHref } from "./invitation-link";
import { toMailing } from "./letter";
import { stateOfNewMail } from "./mailer";

/** Does a letter that is written here reach anybody: by a mail server, or in development by the outbox page? */
export function canWriteLetters(): boolean {
  return stateOfNewMail() !== null;
}

export type InvitationLetter = {
  invitationId: string;
  nonce: string;
  email: string;
  organizationName: string;
  role: string;
  invitedBy: string;
  expiresAt: Date;
};

/** Writes the letter of an invitation in the caller's transaction; it leaves after the commit, with its link. */
export async function writeInvitation(client: Queryable, ctx: Ctx, of: InvitationLetter): Promise<void> {
  const state = stateOfNewMail();
  if (!state) throw new Error("no letter can be written here"); // asked for with canWriteLetters()
  const mailing = toMailing({
    title: `You are invited to ${of.organizationName} on Capstan`,
    body: `${of.invitedBy} invites you to ${of.organizationName}. The link works once, for ${of.email} alone.`,
    href: invitationHref(of.nonce),
    letter: {
      facts: [
        ["Organization", of.organizationName],
        ["Role", of.role],
        ["Invited by", of.invitedBy],
        ["Valid until", `${of.expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC`],
      ],
      action: "Accept the invitation",
    },
    reason: "You get this mail because somebody invited this address. If you do not know them, ignore it.",
  });
  await client.query(
    `INSERT INTO mail (id, invitation_id, invitation_nonce, recipient, subject, text, html, state, next_attempt_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text, CASE WHEN $8::text = 'pending' THEN $9::timestamptz END, $9::timestamptz)`,
    [
      newId("mail"),
      of.invitationId,
      of.nonce,
      of.email,
      mailing.subject,
      mailing.text,
      mailing.html,
      state,
      ctx.now(),
    ],
  );
}
