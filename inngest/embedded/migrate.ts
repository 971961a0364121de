import { Logger, runMigrations } from "graphile-worker";
import { Client, type DatabaseError, Pool } from "pg";
import { log } from "@/server/platform/log/log";
import { bool, present } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** The longest wait of a start for a lock of another process's migration or transaction. */
const LOCK_WAIT_MS = 60_000;
const LOCK_NOT_AVAILABLE = "55P03";
const KEY = "hashtext('capstan-engine-migrations')";

/**
 * Prepares a database for the engine: the queue's own schema, in addition to the tables and functions of the product's
 * migrations. Running it again changes nothing. Throws after waiting too long for a lock of another process.
 */
export async function migrateEngine(
  connectionString = process.env.DATABASE_URL,
  lockWaitMs = LOCK_WAIT_MS,
): Promise<void> {
  if (!connectionString) throw new Error("migrateEngine needs a connection string, or DATABASE_URL");
  const options = `-c lock_timeout=${lockWaitMs} -c idle_in_transaction_session_timeout=0`;
  const client = new Client({ connectionString, options });
  // The queue's migrations use their own connections, with the same lock timeout.
  const pgPool = new Pool({ connectionString, options, max: 2 });
  // Without these listeners graphile-worker prints a warning. A lost connection fails the statement, so nothing is handled
  // here.
  pgPool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  await client.connect();
  try {
    await client.query("BEGIN");
    await takeLock(client);
    await runMigrations({ pgPool, logger: new Logger(() => () => {}) });
    await client.query("COMMIT");
  } catch (error) {
    if ((error as DatabaseError).code !== LOCK_NOT_AVAILABLE) throw error; // only a database error has this code
    throw new Error(
      `Another process has held a lock that the engine's tables need for ${lockWaitMs / 1000} seconds. Look for it in pg_stat_activity, end it if it hangs, and start again.`,
      { cause: error },
    );
  } finally {
    await Promise.all([client.end(), pgPool.end()]);
  }
}

const tryLock = statement("engine.lock.try", {
  row: { taken: present(bool, "the function always returns a value") },
  sql: `SELECT pg_try_advisory_xact_lock(${KEY}) AS taken`,
});

/** Several processes may start at once. The lock ends with the transaction, however that ends. */
async function takeLock(client: Client): Promise<void> {
  const row = await tryLock.first(client, {});
  if (row?.taken) return;
  log.warn("another process is preparing the engine's tables: waiting for it");
  await client.query(`SELECT pg_advisory_xact_lock(${KEY})`);
}
