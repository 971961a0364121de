import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline as joined, type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { type BackupManifest, tableFile } from "./manifest";

/*
 * Tables as files: PostgreSQL's COPY in text form, which every version reads, compressed. The database itself names its tables
 * and columns.
 */

export type Table = { name: string; columns: string[] };

/** Tables that migrations and processes fill anew. */
const NOT_COPIED = ["_prisma_migrations", "engine_worker", "periodic_task", "run_slot", "vault_process"];

/** Lists the tables of a backup with the columns that are written; generated columns follow from them. */
export async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> ALL($1)
     GROUP BY c.relname ORDER BY c.relname`,
    [NOT_COPIED],
  );
  return rows;
}

export async function sequencesOf(client: pg.Client): Promise<BackupManifest["sequences"]> {
  const { rows } = await client.query<BackupManifest["sequences"][number]>(
    `SELECT sequencename::text AS name, last_value::text AS "lastValue" FROM pg_sequences
     WHERE schemaname = current_schema() ORDER BY 1`,
  );
  return rows;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const listed = (columns: string[]) => columns.map(quoted).join(", ");

/** Writes a table's rows, as the client's transaction sees them, to its file. */
export async function copyOut(client: pg.Client, { name, columns }: Table, folder: string) {
  let rows = 0;
  let bytes = 0;
  const hash = createHash("sha256");
  // Copies a query, because no other form copies a table with row-level security or with partitions.
  await pipeline(
    client.query(copyTo(`COPY (SELECT ${listed(columns)} FROM ${quoted(name)}) TO STDOUT`)),
    through((chunk) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) rows++; // a line feed inside a value is escaped
    }),
    createGzip({ level: 3 }),
    through((chunk) => {
      bytes += chunk.length;
      hash.update(chunk);
    }),
    createWriteStream(tableFile(folder, name), { mode: 0o600, flags: "wx", flush: true }),
  );
  return { name, columns, rows, bytes, sha256: hash.digest("hex") };
}

/** Reads the rows of a table as `copyOut` wrote them. */
export const readTableRows =
  (folder: string) =>
  (table: string): Readable =>
    joined(createReadStream(tableFile(folder, table)), createGunzip(), () => {}); // an error destroys the returned stream

/** The tables to fill, each with the columns of its text and the count of its rows, and the values at which sequences go on. */
export type Filling = {
  tables: (Table & { rows: number })[];
  sequences: BackupManifest["sequences"];
};

/**
 * Fills the tables of an empty database of the same schema with the text that `open` gives, in the client's transaction, as the
 * owner of its tables. Triggers do not fire, and foreign keys are checked at the end. Throws if a count differs.
 */
export async function copyAllIn(
  client: pg.Client,
  filling: Filling,
  open: (table: string) => Readable,
): Promise<void> {
  const names = (await tablesOf(client)).map(({ name }) => quoted(name));
  const keys = await client.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS table, conname::text AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND connamespace = current_schema()::regnamespace`,
  );
  const forced = await client.query<{ table: string }>(
    `SELECT oid::regclass::text AS table FROM pg_class
     WHERE relforcerowsecurity AND relnamespace = current_schema()::regnamespace`,
  );
  const alter = async (table: string, change: string) => {
    await client.query(`ALTER TABLE ${table} ${change}`);
  };
  for (const { table, name } of keys.rows) await alter(table, `DROP CONSTRAINT ${quoted(name)}`);
  for (const { table } of forced.rows) await alter(table, "NO FORCE ROW LEVEL SECURITY"); // COPY FROM cannot work under it
  for (const name of names) await alter(name, "DISABLE TRIGGER USER");
  await client.query(`TRUNCATE ${names.join(", ")}`); // rows that migrations made are in the snapshot, too
  for (const table of filling.tables) await copyIn(client, table, open(table.name));
  for (const { name, lastValue } of filling.sequences)
    if (lastValue !== null) await client.query("SELECT setval($1::regclass, $2)", [quoted(name), lastValue]);
  for (const name of names) await alter(name, "ENABLE TRIGGER USER");
  for (const { table, name, definition } of keys.rows)
    await alter(table, `ADD CONSTRAINT ${quoted(name)} ${definition}`);
  for (const { table } of forced.rows) await alter(table, "FORCE ROW LEVEL SECURITY");
}

async function copyIn(client: pg.Client, table: Filling["tables"][number], from: Readable): Promise<void> {
  const into = client.query(copyFrom(`COPY ${quoted(table.name)} (${listed(table.columns)}) FROM STDIN`));
  await pipeline(from, into);
  if (into.rowCount !== table.rows)
    throw new Error(`${table.name} has ${into.rowCount} rows; there should be ${table.rows}.`);
}

/** Passes bytes on and shows them to `look`. */
function through(look: (chunk: Buffer) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      look(chunk);
      done(null, chunk);
    },
  });
}
