import { pool } from "@/server/db";

/** What principals are called where people read of them: a person's e-mail, a key's name. Others are left out. */
export async function namesOf(principalIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; name: string }>(
    `SELECT id, email AS name FROM user_account WHERE id = ANY($1)
     UNION ALL SELECT id, name FROM api_key WHERE id = ANY($1)`,
    [[...new Set(principalIds)]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
