import type { Ctx } from "@/server/domain/ctx";
import type { Queryable } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { invitationHref } from "./invitation-link";
import { toMailing } from "./letter";
import { stateOfNewMail } from "./mailer";

/** Whether an email can be delivered: by a mail server, or in development on the outbox page. */
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

/** Writes an invitation's email in the caller's transaction. It is sent after the commit, with its link. */
export async function writeInvitation(client: Queryable, ctx: Ctx, of: InvitationLetter): Promise<void> {
  const state = stateOfNewMail();
  if (!state) throw new Error("this installation does not send email"); // asked for with canWriteLetters()
  const mailing = toMailing({
    title: `You're invited to ${of.organizationName} on Capstan`,
    body: `${of.invitedBy} invited you to ${of.organizationName}. The link works once, and only for ${of.email}.`,
    href: invitationHref(of.nonce),
    letter: {
      facts: [
        ["Organization", of.organizationName],
        ["Role", of.role],
        ["Invited by", of.invitedBy],
        ["Valid until", `${of.expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC`],
      ],
      action: "Accept invitation",
    },
    reason:
      "You receive this email because someone invited this address. If you do not know them, ignore it.",
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
