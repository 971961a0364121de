import type { Mailer, MailResult } from "@/server/mail/define";
import { type SmtpSettings, smtpMailer } from "@/server/mail/smtp";
import { newId } from "@/server/platform/ids";
import { env, publicUrl } from "@/server/platform/settings/env";

let last: { settings: SmtpSettings; mailer: Mailer } | undefined;

/** The installation's mail server; null if none is configured. */
export function findMailer(): Mailer | null {
  const { SMTP_URL: url, MAIL_FROM: from } = env;
  if (!url || !from) return null;
  if (!last || last.settings.url !== url || last.settings.from !== from) {
    last?.mailer.close();
    last = { settings: { url, from }, mailer: smtpMailer({ url, from }) };
  }
  return last.mailer;
}

/** Sends a test email through the installation's mail server and returns the outcome; null if none is configured. */
export async function testMail(to: string): Promise<MailResult | null> {
  const { SMTP_URL: url, MAIL_FROM: from } = env;
  if (!url || !from) return null;
  const mailer = smtpMailer({ url, from });
  const text = `This is a test of the mail server of ${publicUrl}.`;
  const letter = {
    subject: "Capstan can send email",
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

/** State of a new email: to be sent, or only stored and shown. Null if no emails are written here. */
export function stateOfNewMail(): "pending" | "kept" | null {
  if (findMailer()) return "pending";
  return env.CAPSTAN_ENV === "production" ? null : "kept";
}

/** The right part of Message-IDs: our domain. */
export const messageDomain = new URL(publicUrl).hostname
  .replace(/^\[(.*)\]$/, "ipv6.$1")
  .replaceAll(":", "-");
