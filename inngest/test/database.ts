import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { applyMigrations } from "../../scripts/migrate/migrations";
import { migrateEngine } from "../embedded/migrate";

export type TestDatabase = { url: string; close(): Promise<void> };

/**
 * Creates a migrated database on the server of DATABASE_URL. An engine takes every event of its database, so tests that start
 * one must not share theirs.
 */
export async function createTestDatabase(migrations = "prisma/migrations"): Promise<TestDatabase> {
  // The tests' global setup sets both variables; the product's own role may not create databases.
  const address = new URL(process.env.DATABASE_URL!);
  const password = readFileSync(join(process.env.CAPSTAN_DATA_DIR!, "postgres.password"), "utf8").trim();
  const { hostname: host, port, username } = address;
  const admin = new Client({ host, port: Number(port), user: "postgres", password, database: "postgres" });
  await admin.connect();
  const name = `engine_${randomBytes(6).toString("hex")}`;
  await admin.query(`create database ${name} owner ${username}`);
  address.pathname = `/${name}`;
  await applyMigrations(address.href, migrations);
  await migrateEngine(address.href);
  return {
    url: address.href,
    async close() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
