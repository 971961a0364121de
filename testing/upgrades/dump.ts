import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { type Filling, sequencesOf, tablesOf } from "@/scripts/backup/tables";

/*
 * A dump is one compressed text that every version of PostgreSQL reads: its first line is JSON that names the migrations, the
 * tables and the sequences; then the rows of each table, one a line, as COPY writes them. The schema is that of the migrations,
 * which are never edited. A checkout of 0.2.0 runs this file, too.
 */

type Head = Filling & { migrations: { name: string; checksum: string }[] };
export type Dump = Head & { open(table: string): Readable };

const quoted = (name: string) => `"${name}"`;

/** Writes every row that the client sees. */
export async function writeDump(client: pg.Client, file: string): Promise<void> {
  const { rows: migrations } = await client.query<Head["migrations"][number]>(
    "SELECT migration_name AS name, checksum FROM _prisma_migrations ORDER BY 1",
  );
  const tables: Head["tables"] = [];
  const texts: string[] = [];
  for (const { name, columns } of await tablesOf(client)) {
    const lines = await linesOf(client, `SELECT ${columns.map(quoted).join(", ")} FROM ${quoted(name)}`);
    tables.push({ name, columns, rows: lines.length });
    texts.push(...lines);
  }
  const head: Head = { migrations, tables, sequences: await sequencesOf(client) };
  writeFileSync(file, gzipSync(`${[JSON.stringify(head), ...texts].join("\n")}\n`, { level: 9 }));
}

async function linesOf(client: pg.Client, query: string): Promise<string[]> {
  const stream = client.query(copyTo(`COPY (${query}) TO STDOUT`));
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  return Buffer.concat(chunks).toString("utf8").split("\n").slice(0, -1); // inside values a line's end is escaped
}

export function readDump(file: string): Dump {
  const [first = "", ...lines] = gunzipSync(readFileSync(file)).toString("utf8").split("\n");
  const head: Head = JSON.parse(first); // written above
  let at = 0;
  const texts = new Map<string, string>();
  for (const { name, rows } of head.tables) {
    const own = lines.slice(at, at + rows);
    texts.set(name, own.map((line) => `${line}\n`).join(""));
    at += rows;
  }
  return { ...head, open: (table) => Readable.from([Buffer.from(texts.get(table) ?? "")]) };
}
