import { pool } from "@/server/platform/db";

const ID = /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/;
const ROUNDS = 3;
/** Columns that are written some time after a key or a session was used, so they show nothing about a request. */
const SEEN = "last_used_at,last_seen_at";

/** Tables that are computed from other rows, for all tenants at once and by any process. */
const COUNTED = ["usage_counted", "usage_day"];

/** The columns that can refer to an object, by table. */
async function namingColumns(): Promise<Map<string, string[]>> {
  const { rows } = await pool.query<{ table_name: string; names: string[] }>(
    `SELECT c.table_name, array_agg(c.column_name::text) AS names FROM information_schema.columns c
     JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type = 'text'
       AND c.table_name <> ALL($1)
       AND (c.column_name = 'id' OR c.column_name LIKE '%\\_id' OR c.column_name IN ('scope', 'subject', 'topic'))
     GROUP BY c.table_name ORDER BY c.table_name`,
    [COUNTED],
  );
  return new Map(rows.map(({ table_name, names }) => [table_name, names]));
}

/** Every row that these ids lead to in at most `ROUNDS` steps, in every table but `COUNTED`, and all ids on the way. */
export async function rowsAround(start: string[]): Promise<{ ids: Set<string>; texts: string[] }> {
  const tables = await namingColumns();
  let ids = new Set(start);
  let texts: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const found = new Set(ids);
    texts = [];
    for (const [table, names] of tables) {
      const where = names.map((name) => `"${name}" = ANY($1)`).join(" OR ");
      const own = names.includes("id") ? '"id"' : "NULL";
      const { rows } = await pool.query<{ id: string | null; whole: string }>(
        `SELECT ${own} AS id, '${table} ' || (to_jsonb(t) - '{${SEEN}}'::text[])::text AS whole FROM "${table}" t WHERE ${where} ORDER BY 2`,
        [[...ids]],
      );
      for (const { id, whole } of rows) {
        texts.push(whole);
        if (id && ID.test(id)) found.add(id);
      }
    }
    ids = found;
  }
  return { ids, texts };
}
