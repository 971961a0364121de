import type { Queryable } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { newId } from "@/server/ids";

/** Who is told: everybody who belongs to an organization, or the operators of the installation. */
export type Audience = { organizationId: string } | "operators";

export type News = {
  /** What makes it happen once for each person, e.g. the id of the event it tells of. */
  occasion: string;
  /** e.g. commission.quote_ready */
  kind: string;
  title: string;
  body: string;
  /** The page it leads to, from the root. */
  href: string;
};

/** Tells people of something, in the caller's transaction; the same occasion again tells nobody twice. */
export async function tell(client: Queryable, ctx: Ctx, audience: Audience, news: News): Promise<void> {
  const organizationId = audience === "operators" ? null : audience.organizationId;
  const { rows } = await client.query<{ id: string }>(
    organizationId === null
      ? "SELECT id FROM user_account WHERE is_operator ORDER BY id"
      : "SELECT user_id AS id FROM membership WHERE organization_id = $1 ORDER BY user_id",
    organizationId === null ? [] : [organizationId],
  );
  const made = rows.map(({ id }) => ({ id: newId("notification"), user_id: id }));
  await client.query(
    `INSERT INTO notification (id, user_id, organization_id, occasion, kind, title, body, href, created_at)
     SELECT x.id, x.user_id, $2, $3, $4, $5, $6, $7, $8 FROM json_to_recordset($1::json) AS x(id text, user_id text)
     ON CONFLICT (user_id, occasion) DO NOTHING`,
    [
      JSON.stringify(made),
      organizationId,
      news.occasion,
      news.kind,
      news.title,
      news.body,
      news.href,
      ctx.now(),
    ],
  );
}
