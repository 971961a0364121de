import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { artifactStore, filesStore, keepFromRemoval } from "@/server/domain/artifacts";
import { systemCtx } from "@/server/domain/ctx";
import { vaultStatus } from "@/server/domain/vault";
import { env } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { VERSION } from "@/server/platform/settings/version";
import { copyArtifacts, namedContents } from "./artifacts";
import { artifactsFolder, type BackupManifest, snapshotsOf, writeManifest } from "./manifest";
import { copyOut, sequencesOf, tablesOf } from "./tables";

export type BackUp = { to: string; withArtifacts: boolean };
export type BackedUp = { folder: string; manifest: BackupManifest; newArtifacts: number };

/**
 * Writes a snapshot of all tables of the database as of one moment. With `withArtifacts`, also copies the artifacts that the
 * snapshot refers to and the backup lacks. The installation keeps running. The name of an incomplete snapshot starts with a dot,
 * and the next backup removes it. Throws Refusal if a vault key is missing or another backup runs.
 */
export async function backUp({ to, withArtifacts }: BackUp): Promise<BackedUp> {
  const needed = await requireVaultKeys();
  const client = new pg.Client({
    connectionString: env.DATABASE_URL,
    keepAlive: true,
    options:
      "-c capstan.project_id=* -c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=0",
    application_name: "capstan backup",
  });
  client.on("error", () => {}); // the next statement reports it
  await client.connect();
  try {
    if (!(await keepFromRemoval(client)))
      throw new Refusal("Another backup of this installation is running. Wait until it has ended.");
    const snapshots = snapshotsOf(to);
    await mkdir(snapshots, { recursive: true, mode: 0o700 });
    await removeIncomplete(snapshots);
    const takenAt = new Date();
    const name = takenAt.toISOString().replaceAll(":", "-");
    const incomplete = join(snapshots, `.${name}`);
    await mkdir(incomplete, { mode: 0o700 });
    const { named, ...database } = await copyDatabase(client, incomplete);
    const copied = withArtifacts
      ? await copyArtifacts(named, artifactStore(), filesStore(artifactsFolder(to)))
      : { copied: 0, missing: [] };
    await client.query("SELECT"); // throws if the connection, and with it the lock, was lost
    const manifest: BackupManifest = {
      format: 1,
      takenAt: takenAt.toISOString(),
      capstan: VERSION,
      vaultKeys: needed,
      ...database,
      artifacts: {
        areIncluded: withArtifacts,
        count: named.length,
        bytes: named.reduce((sum, { bytes }) => sum + bytes, 0),
        missing: copied.missing,
      },
    };
    await writeManifest(incomplete, manifest);
    const folder = join(snapshots, name);
    await rename(incomplete, folder);
    return { folder, manifest, newArtifacts: copied.copied };
  } finally {
    await client.end();
  }
}

/**
 * Ids of the vault keys under which something is encrypted, and of the one that signs the manifest. Throws Refusal if one is not
 * here.
 */
async function requireVaultKeys(): Promise<string[]> {
  const { keyId, keys } = await vaultStatus(systemCtx("backup"));
  const needed = keys.filter(({ values, keyId: id }) => values > 0 || id === keyId);
  const lacking = needed.filter(({ isHere }) => !isHere).map((key) => key.keyId);
  if (lacking.length > 0)
    throw new Refusal(
      `CAPSTAN_VAULT_KEY: the database was encrypted with vault key ${lacking.join(", ")}, which is not here. Set the keys of this installation.`,
    );
  return needed.map((key) => key.keyId);
}

async function removeIncomplete(snapshots: string): Promise<void> {
  for (const name of await readdir(snapshots))
    if (name.startsWith(".")) await rm(join(snapshots, name), { recursive: true });
}

async function copyDatabase(client: pg.Client, folder: string) {
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  const { rows: facts } = await client.query<{ postgres: string }>(
    "SELECT current_setting('server_version') AS postgres",
  );
  const { rows: migrations } = await client.query<BackupManifest["migrations"][number]>(
    `SELECT migration_name AS name, checksum FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  const named = await namedContents(client);
  const tables: BackupManifest["tables"] = [];
  for (const table of await tablesOf(client)) tables.push(await copyOut(client, table, folder));
  const sequences = await sequencesOf(client); // read last, so never behind the snapshot's rows
  await client.query("COMMIT");
  return { postgres: facts[0]?.postgres ?? "", migrations, tables, sequences, named };
}
