import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { env } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { endWithChildren } from "../launch/ending";
import { startPostgres } from "../launch/postgres";
import { findRunning } from "../launch/runtime";
import { applyMigrations } from "../migrate/migrations";
import type { Checked } from "./check";
import { artifactsFolder, type BackupManifest, findSnapshot, readSnapshot } from "./manifest";
import { copyAllIn, readTableRows } from "./tables";

export type Restore = { from: string; snapshot?: string | undefined };
export type Restored = Checked & { folder: string; manifest: BackupManifest };

/**
 * Restores a snapshot into an empty installation: the database of DATABASE_URL, or the embedded one of the data directory, and
 * its artifact store. All work is held (`admin restore release`). Throws Refusal if backup, keys or installation do not fit; no
 * data is restored then.
 */
export async function restore({ from, snapshot }: Restore): Promise<Restored> {
  requireOwnKey();
  const folder = await findSnapshot(from, snapshot);
  const manifest = await readSnapshot(folder);
  const stop = env.DATABASE_URL ? null : await startEmbedded();
  try {
    return { folder, manifest, ...(await intoDatabase(env.DATABASE_URL ?? "", { from, folder, manifest })) };
  } finally {
    await stop?.();
  }
}

/** Throws Refusal without a key of the installation's own: a new key would be made, which opens nothing. */
function requireOwnKey(): void {
  if (env.CAPSTAN_VAULT_KEY || existsSync(join(env.CAPSTAN_DATA_DIR, "secrets.json"))) return;
  throw new Refusal(
    `CAPSTAN_VAULT_KEY is not set. Set the key of the installation that was backed up, or copy its secrets.json into ${env.CAPSTAN_DATA_DIR}.`,
  );
}

/** Starts the embedded database alone, for this process; returns the function that stops it. */
async function startEmbedded(): Promise<() => Promise<void>> {
  const dataDir = resolve(env.CAPSTAN_DATA_DIR);
  if (findRunning(dataDir))
    throw new Refusal("Capstan is running on this data directory. Stop it first: npm run down");
  mkdirSync(join(dataDir, "logs"), { recursive: true });
  // The database server may run as another user, who needs access to its folder.
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  endWithChildren();
  const server = await startPostgres({ dataDir, logFile: join(dataDir, "logs", "postgres.log") });
  env.DATABASE_URL = server.url;
  return server.stop;
}

/** Checks a database that was restored by other means, and its artifact store. Nothing is changed. */
export async function check(): Promise<Checked> {
  const client = await connect(env.DATABASE_URL ?? "");
  const { checkRestored } = await import("./check");
  return checkRestored(client).finally(() => client.end());
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    keepAlive: true,
    options: "-c capstan.project_id=* -c statement_timeout=0 -c idle_in_transaction_session_timeout=0",
    application_name: "capstan restore",
  });
  client.on("error", () => {}); // the next statement reports it
  await client.connect().catch((cause: Error) => {
    throw new Refusal(`DATABASE_URL: the database cannot be used (${cause.message}). Start or correct it.`);
  });
  return client;
}

type Source = { from: string; folder: string; manifest: BackupManifest };

async function intoDatabase(databaseUrl: string, { from, folder, manifest }: Source) {
  const client = await connect(databaseUrl);
  const names = manifest.migrations.map(({ name }) => name);
  // Imported late, because these modules open the database named above.
  const { checkRestored } = await import("./check");
  const { holdAll, isInUse } = await import("@/server/domain/restores");
  const { artifactStore, filesStore } = await import("@/server/domain/artifacts");
  const { copyArtifacts, namedContents } = await import("./artifacts");
  try {
    await requireEmpty(client, names, isInUse);
    await applyMigrations(databaseUrl, undefined, names);
    await client.query("BEGIN");
    await copyAllIn(client, manifest, readTableRows(folder));
    if (manifest.artifacts.areIncluded) {
      const named = await namedContents(client);
      const { missing } = await copyArtifacts(named, filesStore(artifactsFolder(from)), artifactStore());
      const lost = missing.filter((sha256) => !manifest.artifacts.missing.includes(sha256));
      if (lost.length > 0)
        throw new Refusal(
          `--from: ${lost.length} of the files in ${artifactsFolder(from)} are missing or were changed, the first of them ${lost[0]}. Use another copy of this backup.`,
        );
    }
    await holdAll(client);
    await client.query("COMMIT");
    await client.query("ANALYZE");
    await applyMigrations(databaseUrl);
    const checked = await checkRestored(client);
    const missingArtifacts = checked.missingArtifacts.filter(
      (sha256) => !manifest.artifacts.missing.includes(sha256),
    );
    return { ...checked, missingArtifacts };
  } finally {
    await client.end();
  }
}

/**
 * Throws Refusal unless the database is without tables, or was migrated only by migrations of `names` and has no organization, no
 * person and no running process.
 */
async function requireEmpty(
  client: pg.Client,
  names: string[],
  isInUse: (client: pg.Client) => Promise<boolean>,
): Promise<void> {
  const { rows } = await client.query<{ tables: number; is_ours: boolean }>(
    `SELECT count(*)::int AS tables, to_regclass('_prisma_migrations') IS NOT NULL AS is_ours FROM pg_class
     WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace`,
  );
  if (!rows[0]?.tables) return;
  const found = rows[0].is_ours
    ? await client.query<{ is_used: boolean; applied: string[] }>(
        `SELECT EXISTS (SELECT FROM organization) OR EXISTS (SELECT FROM user_account) AS is_used,
           ARRAY(SELECT migration_name::text FROM _prisma_migrations WHERE rolled_back_at IS NULL) AS applied`,
      )
    : null;
  const state = found?.rows[0];
  if (!state || state.is_used)
    throw new Refusal(
      process.env.DATABASE_URL
        ? "DATABASE_URL: the database is not empty. Create a new database, and name that."
        : `The data directory ${env.CAPSTAN_DATA_DIR} has an installation with data. Set CAPSTAN_DATA_DIR to another directory, or delete this one's data: npm run reset`,
    );
  if (await isInUse(client))
    throw new Refusal("Processes use this database. Stop web and worker, wait a minute, then restore again.");
  if (state.applied.some((name) => !names.includes(name)))
    throw new Refusal(
      "The database was migrated by a later version than the backup's. Create a new, empty database; restore migrates it.",
    );
}
