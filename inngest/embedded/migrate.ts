import { Logger, runMigrations } from "graphile-worker";
import { Client } from "pg";
import { INSTALL } from "./sql";

/**
 * Prepares a database for the engine: the queue's own schema and the engine's functions and indexes. Runs after the
 * product's migrations, which create the tables; running it again changes nothing.
 */
export async function migrateEngine(connectionString = process.env.DATABASE_URL): Promise<void> {
  if (!connectionString) throw new Error("migrateEngine needs a connection string, or DATABASE_URL");
  const client = new Client({ connectionString });
  await client.connect();
  try {
    // Several workers may start at once; the lock goes with the connection.
    await client.query("SELECT pg_advisory_lock(hashtext('capstan-engine-migrations'))");
    await runMigrations({ connectionString, logger: new Logger(() => () => {}) });
    await client.query(INSTALL);
  } finally {
    await client.end();
  }
}
