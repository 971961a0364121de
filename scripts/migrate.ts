import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { migrateEngine } from "@/inngest/embedded/migrate";
import { applyMigrations, readMigrations } from "./migrate/migrations";
import type { diffSchemas as diff } from "./migrate/schema-diff";

const SCHEMA = "prisma/schema";
/**
 * SQL that Prisma's schema language cannot express, in the order of the file names. `init` appends it to the first migration;
 * after the first release, changes are written by hand into the next migration.
 */
const GUARDS = "prisma/guards";
const MIGRATIONS = "prisma/migrations";
/** The schema as of the newest migration, which `dev` compares with. */
const SNAPSHOT = join(MIGRATIONS, "schema.snapshot.prisma");
const FIRST = "0001_init";

const USAGE = `Usage: npm run migrate -- <command>
  dev --name <what_changes>   write a migration from the changes of ${SCHEMA}
  apply                       apply migrations, and those of the embedded engine, to the database of DATABASE_URL
  init                        before the first release only: rewrite ${FIRST}`;

/** The files of a folder with this ending as one text, in the order of their names. */
async function together(folder: string, ending: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending)).sort();
  const parts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return parts.join("\n");
}

/* Imported only to write a migration: their packages are not installed where migrations are just applied. */
const diffSchemas: typeof diff = async (from, to) =>
  (await import("./migrate/schema-diff")).diffSchemas(from, to);
const generate = async () => (await import("./launch/generate")).generate();

const currentSchema = () => together(SCHEMA, ".prisma");

async function writeMigration(name: string, sql: string, schema: string) {
  await mkdir(join(MIGRATIONS, name), { recursive: true });
  await writeFile(join(MIGRATIONS, name, "migration.sql"), sql);
  await writeFile(SNAPSHOT, schema);
  console.log(`Wrote ${join(MIGRATIONS, name, "migration.sql")}`);
  await generate(); // the types of rows, which are of the new schema from now on
}

async function init() {
  const later = (await readMigrations(MIGRATIONS)).filter((migration) => migration.name !== FIRST);
  if (later.length > 0)
    throw new Error(
      `${FIRST} can no longer be rewritten, because ${later.length} migrations build on it. Use dev.`,
    );
  const schema = await currentSchema();
  const tables = await diffSchemas(null, schema);
  await rm(join(MIGRATIONS, FIRST), { recursive: true, force: true });
  await writeMigration(FIRST, `${tables}\n${await together(GUARDS, ".sql")}`, schema);
}

async function dev(name: string | undefined) {
  if (!name || !/^[a-z0-9_]+$/.test(name))
    throw new Error("--name is required: lower-case letters, digits and underscores.");
  const schema = await currentSchema();
  const sql = await diffSchemas(await readFile(SNAPSHOT, "utf8"), schema);
  if (!sql.trim() || sql.includes("This is an empty migration")) {
    console.log("The schema has not changed since the last migration.");
    return;
  }
  const timestamp = new Date().toISOString().replaceAll(/\D/g, "").slice(0, 14);
  await writeMigration(`${timestamp}_${name}`, `${sql}\nSELECT capstan_guard_tenants();\n`, schema);
}

async function apply() {
  const url = process.env.DATABASE_URL;
  if (!url) throw new Error("DATABASE_URL is not set. The embedded database is migrated by npm run up.");
  const applied = await applyMigrations(url, MIGRATIONS);
  await migrateEngine(url);
  console.log(applied.length > 0 ? `Applied ${applied.join(", ")}` : "Nothing to apply.");
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { name: { type: "string" } },
  });
  if (positionals[0] === "init") await init();
  else if (positionals[0] === "dev") await dev(values.name);
  else if (positionals[0] === "apply") await apply();
  else throw new Error(USAGE);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
