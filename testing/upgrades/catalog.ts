import type pg from "pg";

/*
 * Everything that a version's statements can name, one per line: columns with their types, functions with their signatures,
 * policies, unique indexes, and sequences. Column types are in the server's spelling.
 */

const CATALOG: Record<string, string> = {
  column: `SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped`,
  function: `SELECT p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ') ' || coalesce(pg_get_function_result(p.oid), '')
    FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`,
  policy: "SELECT tablename || '.' || policyname || ' ' || cmd FROM pg_policies WHERE schemaname = 'public'",
  unique: `SELECT regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE UNIQUE INDEX \\S+ ', '')
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique`,
  sequence: "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'",
};

/** Columns without a default that an insert must name; an older version's insert does not know a new one. */
const REQUIRED = `SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''`;

const linesOf = async (client: pg.Client, query: string): Promise<string[]> =>
  (await client.query<[string]>({ text: query, rowMode: "array" })).rows.map(([line]) => line);

export type Catalog = { names: Set<string>; required: Set<string>; tables: Set<string> };

export async function catalogOf(client: pg.Client): Promise<Catalog> {
  const names = new Set<string>();
  for (const [kind, query] of Object.entries(CATALOG))
    for (const line of await linesOf(client, query)) names.add(`${kind} ${line}`);
  const required = new Set(await linesOf(client, REQUIRED));
  const tables = new Set(
    await linesOf(client, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
  );
  return { names, required, tables };
}

/**
 * Everything in which the newer version breaks an older one, one per line: names that it lacks, and columns of existing tables
 * that it newly requires, as `required …`.
 */
export function lostIn(older: Catalog, newer: Catalog): string[] {
  const gone = [...older.names].filter((name) => !newer.names.has(name));
  const asked = [...newer.required].filter(
    (column) => !older.required.has(column) && older.tables.has(column.slice(0, column.indexOf("."))),
  );
  return [...gone, ...asked.map((column) => `required ${column}`)];
}

/** The errors of statements that cannot be prepared, one per line. */
export async function refusedOf(client: pg.Client, statements: string[]): Promise<string[]> {
  const refused: string[] = [];
  for (const text of statements)
    try {
      await client.query(`PREPARE tried AS ${text}`);
      await client.query("DEALLOCATE tried");
    } catch (cause) {
      refused.push(`${(cause as Error).message}: ${text.slice(0, 200)}`);
    }
  return refused;
}
