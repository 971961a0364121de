import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const readCaller = statement("principal.read.name", {
  params: { principalId: text, organizationId: text },
  row: { name: text },
  sql: `SELECT name FROM api_key WHERE id = $principalId AND organization_id = $organizationId
     UNION ALL SELECT email FROM user_account person WHERE id = $principalId
       AND EXISTS (SELECT FROM membership WHERE user_id = person.id AND organization_id = $organizationId)`,
});

/** What one of a project's callers is called: of its organization's keys and people, and of no one else's. */
export async function nameOfCaller(ctx: Ctx, projectId: string, principalId: string): Promise<string | null> {
  const { organizationId } = await access.authorize(ctx, "jobs:read", { projectId });
  const rows = await readCaller.all(pool, { principalId, organizationId });
  return rows[0]?.name ?? null;
}

const NAMES = "SELECT id, email AS name FROM user_account UNION ALL SELECT id, name FROM api_key";

/** What the principal whose id this SQL gives is called, as `namesOf`. */
export const nameOf = (principalId: string) =>
  `(SELECT name FROM (${NAMES}) named WHERE named.id = ${principalId})`;

const listNames = statement("principal.list.names", {
  params: { ids: texts },
  row: { id: text, name: text },
  sql: `SELECT id, name FROM (${NAMES}) named WHERE id = ANY($ids)`,
});

/** What principals are called where people read of them: a person's e-mail, a key's name. Others are left out. */
export async function namesOf(principalIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await listNames.all(pool, { ids: [...new Set(principalIds)] });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
