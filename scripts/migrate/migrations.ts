import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";

/** The table and the advisory lock of Prisma's own migrate command, so that either tool may apply the folder. */
const HISTORY = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;
const ADVISORY_LOCK = 72707369;

export type Migration = { name: string; sql: string; checksum: string };

/** The migrations of a folder in the order they apply. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "migration.sql")))
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name, "migration.sql"), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/**
 * A migration that is one such statement runs outside a transaction, so that the table stays writable while its index is made. It is
 * alone in its folder, because Prisma's own command sends a folder at once, and PostgreSQL would then begin a transaction.
 */
const IN_BACKGROUND =
  /^(?:--.*\n|\s)*(CREATE|DROP) (?:UNIQUE )?INDEX CONCURRENTLY (?:IF EXISTS )?"(\w+)"[^;]*;\s*$/;
const LOCK_PAUSE_MS = 100;
/** Tries to take the lock before the wait is reported. */
const SAID_TRIES = 50;

/** SQLSTATEs of a migration that met the work of others: a deadlock, or a lock that it did not get in time. */
const MET_OTHERS = ["40P01", "55P03"];
const MOST_TRIES = 240;
const TRY_PAUSE_MS = 250;

/** Repeats a migration that met the work of others, because processes of an earlier version may serve while it runs. */
async function repeated(apply: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await apply();
    } catch (error) {
      const isMet = error instanceof pg.DatabaseError && MET_OTHERS.includes(error.code ?? "");
      if (!isMet || tries === MOST_TRIES) throw error;
      await setTimeout(TRY_PAUSE_MS);
    }
  }
}

/**
 * Takes the lock by asking again and again: a session that waits for it keeps a snapshot, and making an index waits for the end of
 * every snapshot, so the two would wait for each other.
 */
async function lockMigrations(client: pg.Client, say: (line: string) => void): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_lock($1) AS mine", [
      ADVISORY_LOCK,
    ]);
    if (rows[0]?.mine) return;
    if (tries === SAID_TRIES) say("Another process migrates this database; waiting for it.");
    await setTimeout(LOCK_PAUSE_MS);
  }
}

const RECORD = `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
  VALUES ($1, $2, now(), $3, 1)`;
const record = (client: pg.Client, { checksum, name }: Migration) =>
  client.query(RECORD, [randomUUID(), checksum, name]);

async function applyAtOnce(client: pg.Client, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SET LOCAL lock_timeout = '3s'"); // other statements queue behind a lock that waits
    await client.query(migration.sql);
    await record(client, migration);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/**
 * Creates or drops an index concurrently, which does not block writers. A run that was killed leaves an invalid index, which is
 * created again, or a finished one that is not recorded yet.
 */
async function applyInBackground(client: pg.Client, migration: Migration, act: string, index: string) {
  const { rows } = await client.query<{ valid: boolean }>(
    "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)",
    [`"${index}"`],
  );
  if (act === "CREATE" && rows[0]?.valid === false) await client.query(`DROP INDEX CONCURRENTLY "${index}"`);
  if (act === "DROP" || !rows[0]?.valid) await client.query(migration.sql);
  await record(client, migration);
}

/**
 * Applies every migration that the database does not have yet, and returns their names. Each is one transaction,
 * except an index that is created concurrently. Many processes may call this at the same time. Throws if a migration fails, or if
 * one of the database was edited, is missing here or failed earlier. `only` limits the migrations to these; `say` receives
 * reports: the rows that a migration has changed, and a long wait for another process.
 */
export async function applyMigrations(
  databaseUrl: string,
  folder = "prisma/migrations",
  only?: readonly string[],
  say: (line: string) => void = console.log,
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({ connectionString: databaseUrl, options: "-c capstan.project_id=*" });
  client.on("notice", ({ severity, message }) => {
    if (severity === "INFO" && message) say(message);
  });
  await client.connect();
  const applied: string[] = [];
  try {
    await lockMigrations(client, say);
    const { rows: tables } = await client.query("SELECT to_regclass('_prisma_migrations') AS history");
    if (!tables[0].history) await client.query(HISTORY);
    const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
      `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    const known = new Map(migrations.map((migration) => [migration.name, migration]));
    for (const row of rows) {
      if (!row.finished)
        throw new Error(
          `Migration ${row.name} failed earlier and must be resolved by hand. See prisma migrate resolve.`,
        );
      const migration = known.get(row.name);
      if (!migration)
        throw new Error(
          `The database has the migration ${row.name} of another version. Start that version, or use another database.`,
        );
      if (migration.checksum !== row.checksum)
        throw new Error(
          `The migration ${row.name} was changed after this database applied it. Restore the migration's file, or delete the data with: npm run reset`,
        );
    }
    const done = new Set(rows.map((row) => row.name));
    for (const migration of migrations) {
      if (done.has(migration.name) || (only && !only.includes(migration.name))) continue;
      const [, act, index] = IN_BACKGROUND.exec(migration.sql) ?? [];
      try {
        await repeated(() =>
          act && index ? applyInBackground(client, migration, act, index) : applyAtOnce(client, migration),
        );
      } catch (error) {
        throw new Error(`Migration ${migration.name}: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      }
      applied.push(migration.name);
    }
  } finally {
    await client.end();
  }
  return applied;
}
