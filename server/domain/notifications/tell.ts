import type { Queryable } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { newId } from "@/server/ids";
import { type Letter, oneLine, toMailing } from "./letter";
import { stateOfNewMail } from "./mailer";

/** Who is told: everybody who belongs to an organization, one person, or the operators of the installation. */
export type Audience = { organizationId: string } | { userId: string } | "operators";

export type News = {
  /** What makes it happen once for each person, e.g. the id of the event it tells of. */
  occasion: string;
  /** e.g. commission.quote_ready */
  kind: string;
  title: string;
  /** A sentence or two with what matters. */
  body: string;
  /** The page it leads to, from the root. */
  href: string;
  /** What the mail says besides. */
  letter: Letter;
};

/**
 * Tells people of something, in the panel and by mail, in the caller's transaction; the same occasion again tells nobody
 * twice. Mail goes to the address each has at this moment, and leaves after the commit.
 */
export async function tell(client: Queryable, ctx: Ctx, audience: Audience, news: News): Promise<void> {
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
  // Only who is told of it now gets a mail: the row of the notification decides.
  await client.query(
    `WITH person AS (
       SELECT * FROM json_to_recordset($1::json) AS x(id text, user_id text, email text, mail_id text)
     ), told AS (
       INSERT INTO notification (id, user_id, organization_id, occasion, kind, title, body, href, created_at)
       SELECT id, user_id, $2, $3, $4, $5, $6, $7, $8::timestamptz FROM person ORDER BY user_id
       ON CONFLICT (user_id, occasion) DO NOTHING RETURNING id
     )
     INSERT INTO mail (id, notification_id, recipient, subject, text, html, state, next_attempt_at, created_at)
     SELECT mail_id, id, email, $9, $10, $11, $12::text, CASE WHEN $12::text = 'pending' THEN $8::timestamptz END, $8::timestamptz
     FROM person JOIN told USING (id) WHERE mail_id IS NOT NULL`,
    [
      JSON.stringify(made),
      organizationId,
      news.occasion,
      kind,
      title,
      body,
      href,
      ctx.now(),
      mailing.subject,
      mailing.text,
      mailing.html,
      mailState,
    ],
  );
}

type Told = { organizationId: string | null; people: { id: string; email: string }[]; reason: string };

async function readAudience(client: Queryable, audience: Audience): Promise<Told> {
  if (audience === "operators") {
    const { rows } = await client.query<{ id: string; email: string }>(
      "SELECT id, email FROM user_account WHERE is_operator ORDER BY id",
    );
    return {
      organizationId: null,
      people: rows,
      reason: "You get this mail because you are an operator of this installation of Capstan.",
    };
  }
  if ("userId" in audience) {
    const { rows } = await client.query<{ id: string; email: string }>(
      "SELECT id, email FROM user_account WHERE id = $1",
      [audience.userId],
    );
    const reason = "You get this mail because it concerns your account on Capstan.";
    return { organizationId: null, people: rows, reason };
  }
  const { rows } = await client.query<{ id: string; email: string; name: string }>(
    `SELECT user_account.id, email, organization.display_name AS name FROM membership
     JOIN user_account ON user_account.id = user_id JOIN organization ON organization.id = organization_id
     WHERE organization_id = $1 ORDER BY user_account.id`,
    [audience.organizationId],
  );
  return {
    organizationId: audience.organizationId,
    people: rows,
    reason: `You get this mail because you belong to ${rows[0]?.name} on Capstan.`,
  };
}
