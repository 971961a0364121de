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

/** Name of a key or e-mail of a member of the project's organization; null for any other principal. */
export async function nameOfCaller(ctx: Ctx, projectId: string, principalId: string): Promise<string | null> {
  const { organizationId } = await access.authorize(ctx, "jobs:read", { projectId });
  const row = await readCaller.first(pool, { principalId, organizationId });
  return row?.name ?? null;
}

const NAMES = "SELECT id, email AS name FROM user_account UNION ALL SELECT id, name FROM api_key";

/**
 * SQL for the name of a principal, in the form that `principalNames` returns. The argument is an SQL expression for
 * its id.
 */
export const principalNameSql = (principalId: string) =>
  `(SELECT name FROM (${NAMES}) named WHERE named.id = ${principalId})`;

const listNames = statement("principal.list.names", {
  params: { ids: texts },
  row: { id: text, name: text },
  sql: `SELECT id, name FROM (${NAMES}) named WHERE id = ANY($ids)`,
});

/** Display names of principals: a person's e-mail, a key's name. Other principals are left out. */
export async function principalNames(principalIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await listNames.all(pool, { ids: [...new Set(principalIds)] });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
