import { env, publicUrl } from "@/server/env";
import { newId } from "@/server/ids";
import type { Mailer, Outcome } from "@/server/mail/define";
import { type SmtpSettings, smtpMailer } from "@/server/mail/smtp";

let last: { settings: SmtpSettings; mailer: Mailer } | undefined;

/** The mail server of this installation; null: none is set. */
export function findMailer(): Mailer | null {
  const { SMTP_URL: url, MAIL_FROM: from } = env;
  if (!url || !from) return null;
  if (!last || last.settings.url !== url || last.settings.from !== from) {
    last?.mailer.close();
    last = { settings: { url, from }, mailer: smtpMailer({ url, from }) };
  }
  return last.mailer;
}

/** Sends a letter by the mail server of this installation, beside all others, and says what became of it; null: none is set. */
export async function testMail(to: string): Promise<Outcome | null> {
  const { SMTP_URL: url, MAIL_FROM: from } = env;
  if (!url || !from) return null;
  const mailer = smtpMailer({ url, from });
  const text = `This letter was sent from ${publicUrl} to test its mail server.`;
  const letter = {
    subject: "Capstan can send mail",
    text: `${text}\n`,
    html: `<p>${text}</p>`,
    at: new Date(),
  };
  try {
    return await mailer.send({ ...letter, id: newId("mail"), domain: messageDomain, to });
  } finally {
    mailer.close();
  }
}

/** What a new mail waits for: to be sent, or nothing (it is kept and shown). Null: no mail is written here. */
export function stateOfNewMail(): "pending" | "kept" | null {
  if (findMailer()) return "pending";
  return env.CAPSTAN_ENV === "production" ? null : "kept";
}

/** The right part of Message-IDs: where we are. */
export const messageDomain = new URL(publicUrl).hostname
  .replace(/^\[(.*)\]$/, "ipv6.$1")
  .replaceAll(":", "-");
