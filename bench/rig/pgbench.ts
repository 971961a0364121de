import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { newId } from "@/server/platform/ids";
import { findPgbench } from "./peers";
import { LOAD_CORE } from "./processes";
import type { Plan } from "./rounds";
import type { World } from "./world";

type Column = { name: string; type: string };
type Model = { id: string; project_id: string; idempotency_key: string };

/** pgbench's jobs go to a project of their own, because the number of a project's unfinished jobs is limited. */
const OWN_PROJECT = newId("project");

type Written = { table: string; where: string };

/** Finds every table that may name a job, and the column that does; views have no rows of their own. */
const NAMING = `SELECT c.relname AS table, a.attname AS where FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
  WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    AND (a.attname IN ('job_id', 'execution_id') OR (c.relname, a.attname) = ('job', 'id'))
  ORDER BY c.relname <> 'job', c.relname`;

/**
 * Writes the script of one submit for pgbench: one statement with the rows of a submit that was made before, under ids and keys
 * of their own. Returns the path of the script; throws when there is no submit with these keys.
 */
export async function writeSubmitScript(world: World, keys: string): Promise<string> {
  const { rows } = await world.database.query<Model>(
    "SELECT id, project_id, idempotency_key FROM job WHERE idempotency_key LIKE $1 || '%' LIMIT 1",
    [keys],
  );
  const model = rows[0];
  if (!model) throw new Error("there is no submit to take as a model");
  await world.database.query("CREATE SEQUENCE IF NOT EXISTS bench_serial CACHE 32");
  const parts: string[] = [];
  for (const each of await tablesOf(world, model)) parts.push(await insertLike(world, each, model));
  const script = `WITH fresh AS MATERIALIZED (SELECT lpad(nextval('bench_serial')::text, 26, '0') AS serial),
${parts.join(",\n")}
SELECT 1;
`;
  const file = join(world.directory, "submit.sql");
  writeFileSync(file, script.replaceAll(/^\s*\n/gm, ""));
  return file;
}

/** Finds in the database where a submit has written its rows, so that pgbench always writes what a submit writes. */
async function tablesOf({ database }: World, model: Model): Promise<Written[]> {
  const { rows: naming } = await database.query<Written>(NAMING);
  const written: Written[] = [];
  for (const each of naming) {
    const sql = `SELECT FROM ${pg.escapeIdentifier(each.table)} WHERE ${each.where} = $1 LIMIT 1`;
    if ((await database.query(sql, [model.id])).rowCount) written.push(each);
  }
  return written;
}

async function insertLike({ database }: World, { table, where }: Written, model: Model): Promise<string> {
  const { rows: columns } = await database.query<Column>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = '' ORDER BY attnum`,
    [table],
  );
  const list = columns.map(({ name }) => `${pg.escapeIdentifier(name)}::text`).join(", ");
  const { rows } = await database.query<Record<string, string | null>>(
    `SELECT ${list} FROM ${table} WHERE ${where} = $1 LIMIT 1`,
    [model.id],
  );
  const row = rows[0];
  if (!row) throw new Error(`a submit wrote no ${table}`);
  const values = columns.map(({ name, type }) => toSql(row[name] ?? null, type, model));
  return `${table}_row AS (INSERT INTO ${table} (${columns.map(({ name }) => pg.escapeIdentifier(name)).join(", ")})
SELECT ${values.join(", ")} FROM fresh${table === "job" ? " ON CONFLICT (project_id, operation, idempotency_key) DO NOTHING" : ""})`;
}

/** Writes a value of the model as SQL; its ids and its key become those of the fresh submit, and its project `OWN_PROJECT`. */
function toSql(value: string | null, type: string, model: Model): string {
  if (value === null) return `NULL::${type}`;
  if (value === model.id) return "'wfr_' || serial";
  if (value === model.idempotency_key) return "'pgbench-' || serial";
  if (value === model.project_id) return `'${OWN_PROJECT}'`;
  const own = /^(pay|hold)_[0-9a-z]{26}$/.exec(value)?.[1];
  if (own) return `'${own}_' || serial`;
  // pgbench reads a colon before a word as a variable of its own, so text is written without any.
  return `convert_from('\\x${Buffer.from(value).toString("hex")}', 'UTF8')::${type}`;
}

/**
 * Runs the script for `seconds` over this many connections and returns transactions per second. A trial, which has a pause, runs
 * two transactions per connection instead.
 */
export async function pgbench(
  { postgres }: World,
  script: string,
  connections: number,
  { seconds, pauseMs }: Pick<Plan, "seconds" | "pauseMs">,
): Promise<{ perSecond: number }> {
  const { stdout } = await promisify(execFile)(
    "taskset",
    [
      ...["-c", String(LOAD_CORE), findPgbench() ?? "pgbench"],
      ...["-n", "-M", "prepared", "-f", script, "-c", String(connections), "-j", "1"],
      // A trial runs a fixed number: a busy machine may complete no transaction within its second.
      ...(pauseMs > 0 ? ["-t", "2"] : ["-T", String(seconds)]),
      postgres.url,
    ],
    { env: { ...process.env, PGOPTIONS: "-c capstan.project_id=*" } },
  );
  const told = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
  if (!told) throw new Error(`pgbench said nothing that can be read:\n${stdout}`);
  return { perSecond: Number(told) };
}
