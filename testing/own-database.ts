import { randomUUID } from "node:crypto";
import pg from "pg";
import { migrateEngine } from "@/inngest/embedded/migrate";
import { applyMigrations } from "@/scripts/migrations";

/*
 * A database of this file's own, for what concerns the rows of everybody. Imported before anything that opens a database:
 * imports of a test file run one after the other.
 */

const shared = process.env.DATABASE_URL ?? "";
const name = `own_${randomUUID().replaceAll("-", "")}`;

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: shared });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

await asAdmin(`CREATE DATABASE ${name}`);
const url = new URL(shared);
url.pathname = `/${name}`;
process.env.DATABASE_URL = url.href;
await applyMigrations(url.href);
await migrateEngine(url.href);

/** Removes it; nothing may be connected any more. */
export const dropDatabase = () => asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
