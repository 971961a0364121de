import type { Ctx } from "@/server/domain/ctx";
import { mail, notification, organization, userAccount } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { column, maybe, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type LetterBody, oneLine, toMailing } from "./letter";
import { stateOfNewMail } from "./mailer";

/** Recipients: all members of an organization, one person, or the operators of the installation. */
export type Audience = { organizationId: string } | { userId: string } | "operators";

export type News = {
  /** Identifies the event, e.g. by its id: each person is notified once per occasion. */
  occasion: string;
  /** Kind of the event, e.g. commission.quote_ready */
  kind: string;
  title: string;
  /** One or two sentences with the key facts. */
  body: string;
  /** The path of the page that the notification links to. */
  href: string;
  /** The email's additional content. */
  letter: LetterBody;
};

const insertNews = statement("notification.insert.news", {
  params: {
    made: column<string>("json"),
    organizationId: notification.organization_id,
    occasion: notification.occasion,
    kind: notification.kind,
    title: notification.title,
    body: notification.body,
    href: notification.href,
    now: timestamptz,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    mailState: maybe(text),
  },
  sql: `WITH person AS (
       SELECT * FROM json_to_recordset($made::json) AS x(id text, user_id text, email text, mail_id text)
     ), inserted AS (
       INSERT INTO notification (id, user_id, organization_id, occasion, kind, title, body, href, created_at)
       SELECT id, user_id, $organizationId, $occasion, $kind, $title, $body, $href, $now::timestamptz FROM person ORDER BY user_id
       ON CONFLICT (user_id, occasion) DO NOTHING RETURNING id
     )
     INSERT INTO mail (id, notification_id, recipient, subject, text, html, state, next_attempt_at, created_at)
     SELECT mail_id, id, email, $subject, $text, $html, $mailState::text, CASE WHEN $mailState::text = 'pending' THEN $now::timestamptz END, $now::timestamptz
     FROM person JOIN inserted USING (id) WHERE mail_id IS NOT NULL`,
});

/**
 * Notifies people in the panel and by email, in the caller's transaction. The same occasion never notifies a person
 * twice. Email goes to each person's current address, and is sent after the commit.
 */
export async function notify(client: Queryable, ctx: Ctx, audience: Audience, news: News): Promise<void> {
  const { organizationId, people, reason } = await readAudience(client, audience);
  if (people.length === 0) return;
  const { kind, href, letter, body } = news;
  const title = oneLine(news.title);
  const mailState = stateOfNewMail();
  const mailing = toMailing({ title, body, href, letter, reason });
  const made = people.map(({ id, email }) => ({
    id: newId("notification"),
    user_id: id,
    email,
    mail_id: mailState && newId("mail"),
  }));
  // Only people who get a new notification row get an email.
  await insertNews.run(client, {
    made: JSON.stringify(made),
    organizationId,
    occasion: news.occasion,
    kind,
    title,
    body,
    href,
    now: ctx.now(),
    subject: mailing.subject,
    text: mailing.text,
    html: mailing.html,
    mailState,
  });
}

type Recipients = { organizationId: string | null; people: { id: string; email: string }[]; reason: string };

const listOperators = statement("user_account.list.operators", {
  row: pick(userAccount, "id email"),
  sql: `SELECT id, email FROM user_account WHERE is_operator ORDER BY id`,
});

const readPerson = statement("user_account.read.address", {
  params: { userId: text },
  row: pick(userAccount, "id email"),
  sql: `SELECT id, email FROM user_account WHERE id = $userId`,
});

const listMembers = statement("membership.list.addresses", {
  params: { organizationId: text },
  row: { ...pick(userAccount, "id email"), name: organization.display_name },
  sql: `SELECT user_account.id, email, organization.display_name AS name FROM membership
     JOIN user_account ON user_account.id = user_id JOIN organization ON organization.id = organization_id
     WHERE organization_id = $organizationId ORDER BY user_account.id`,
});

async function readAudience(client: Queryable, audience: Audience): Promise<Recipients> {
  if (audience === "operators") {
    const rows = await listOperators.all(client, {});
    return {
      organizationId: null,
      people: rows,
      reason: "You receive this email because you are an operator of this Capstan installation.",
    };
  }
  if ("userId" in audience) {
    const rows = await readPerson.all(client, { userId: audience.userId });
    const reason = "You receive this email because it concerns your Capstan account.";
    return { organizationId: null, people: rows, reason };
  }
  const rows = await listMembers.all(client, { organizationId: audience.organizationId });
  return {
    organizationId: audience.organizationId,
    people: rows,
    reason: `You receive this email because you are a member of ${rows[0]?.name} on Capstan.`,
  };
}
