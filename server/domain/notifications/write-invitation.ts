import type { Ctx } from "@/server/domain/ctx";
import { mail } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { invitationHref } from "./invitation-link";
import { toMailing } from "./letter";
import { stateOfNewMail } from "./mailer";

/** True if an email can be delivered: by a mail server, or in development on the outbox page. */
export function canWriteLetters(): boolean {
  return stateOfNewMail() !== null;
}

type InvitationLetter = {
  invitationId: string;
  nonce: string;
  email: string;
  organizationName: string;
  role: string;
  invitedBy: string;
  expiresAt: Date;
};

const insertInvitation = statement("mail.insert.invitation", {
  params: {
    mailId: mail.id,
    invitationId: mail.invitation_id,
    nonce: mail.invitation_nonce,
    email: mail.recipient,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    state: mail.state,
    now: timestamptz,
  },
  sql: `INSERT INTO mail (id, invitation_id, invitation_nonce, recipient, subject, text, html, state, next_attempt_at, created_at)
     VALUES ($mailId, $invitationId, $nonce, $email, $subject, $text, $html, $state::text, CASE WHEN $state::text = 'pending' THEN $now::timestamptz END, $now::timestamptz)`,
});

/** Writes an invitation's email in the caller's transaction. It is sent after the commit, with its link. */
export async function writeInvitation(client: Queryable, ctx: Ctx, of: InvitationLetter): Promise<void> {
  const state = stateOfNewMail();
  if (!state) throw new Error("this installation does not send email"); // callers check canWriteLetters()
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
  await insertInvitation.run(client, {
    mailId: newId("mail"),
    invitationId: of.invitationId,
    nonce: of.nonce,
    email: of.email,
    subject: mailing.subject,
    text: mailing.text,
    html: mailing.html,
    state,
    now: ctx.now(),
  });
}
