import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { applyMigrations } from "../../scripts/migrations";
import { migrateEngine } from "../embedded";

export type TestDatabase = { url: string; close(): Promise<void> };

/**
 * A migrated database of one's own on the server of DATABASE_URL. An engine takes every event of its database, so
 * tests that start one must not share theirs.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = new Client({ connectionString: process.env.DATABASE_URL });
  await admin.connect();
  const name = `engine_${randomBytes(6).toString("hex")}`;
  await admin.query(`create database ${name}`);
  const address = new URL(process.env.DATABASE_URL!); // set by the tests' global setup
  address.pathname = `/${name}`;
  await applyMigrations(address.href);
  await migrateEngine(address.href);
  return {
    url: address.href,
    async close() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
