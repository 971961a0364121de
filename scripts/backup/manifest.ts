import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { isSignedText, signText, vaultKeys } from "@/server/platform/crypto/vault";
import { Refusal } from "@/server/platform/settings/refusal";
import { canonicalText } from "@/server/platform/text/canonical";
import { readMigrations } from "../migrate/migrations";

/*
 * A backup is a directory: `artifacts/`, in which contents are kept by their hash for all snapshots, and `snapshots/<time>/`
 * with a file for each table and a manifest. The manifest is signed with the vault key, which is not in the backup.
 */

const BackupManifest = z.object({
  format: z.literal(1),
  takenAt: z.iso.datetime(),
  capstan: z.string(),
  postgres: z.string(),
  /** Ids of the vault keys that open its encrypted values. */
  vaultKeys: z.array(z.string()),
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  tables: z.array(
    z.object({
      name: z.string(),
      columns: z.array(z.string()),
      rows: z.int(),
      bytes: z.int(),
      /** SHA-256 of the file. */
      sha256: z.string(),
    }),
  ),
  /** The last value of each sequence, as digits; null if it was never used. */
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string().nullable() })),
  artifacts: z.object({
    /** False if the artifacts are kept elsewhere, such as in a bucket with versions. */
    areIncluded: z.boolean(),
    count: z.int(),
    bytes: z.int(),
    /** Artifacts that the store did not have, or not with the right content. */
    missing: z.array(z.string()),
  }),
});
export type BackupManifest = z.output<typeof BackupManifest>;

const SNAPSHOTS = "snapshots";
const MANIFEST = "manifest.json";
const PURPOSE = "backup";

export const artifactsFolder = (backup: string): string => join(backup, "artifacts");
export const snapshotsOf = (backup: string): string => join(backup, SNAPSHOTS);
export const tableFile = (folder: string, table: string): string => join(folder, `${table}.copy.gz`);

/** Writes the manifest of a snapshot, which completes it. */
export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const signature = signText(canonicalText(manifest), PURPOSE);
  const text = `${JSON.stringify({ ...manifest, signature }, null, 2)}\n`;
  await writeFile(join(folder, MANIFEST), text, { mode: 0o600, flush: true });
}

/** Finds the folder of the snapshot of this name, or of the newest. Throws Refusal if there is none. */
export async function findSnapshot(backup: string, name?: string): Promise<string> {
  const names = await readdir(snapshotsOf(backup)).catch(() => []);
  const complete = names.filter(
    (each) => !each.startsWith(".") && existsSync(join(snapshotsOf(backup), each, MANIFEST)),
  );
  const found = name ?? complete.sort().at(-1);
  if (found !== undefined && complete.includes(found)) return join(snapshotsOf(backup), found);
  if (name === undefined)
    throw new Refusal(
      `--from: ${backup} has no complete snapshot. Name the directory that npm run backup wrote to.`,
    );
  throw new Refusal(
    `--snapshot: ${backup} has no complete snapshot ${name}. It has: ${complete.join(", ") || "none"}.`,
  );
}

/**
 * Reads the manifest of a snapshot and checks that this installation has its vault keys, it was signed with one of them, this
 * version knows its migrations, and each file is unchanged. Throws Refusal otherwise; nothing is changed.
 */
export async function readSnapshot(folder: string): Promise<BackupManifest> {
  const { signature, manifest } = await readManifest(folder);
  requireKeys(manifest);
  if (!isSignedText(canonicalText(manifest), PURPOSE, signature))
    throw new Refusal(
      `--from: ${join(folder, MANIFEST)} was changed after the backup. Use another snapshot, or another copy of it.`,
    );
  await requireMigrations(manifest);
  for (const table of manifest.tables) await requireFile(folder, table);
  return manifest;
}

async function readManifest(folder: string): Promise<{ signature: string; manifest: BackupManifest }> {
  try {
    const { signature, ...manifest } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8"));
    return {
      signature: z.string().parse(signature),
      manifest: z.strictObject(BackupManifest.shape).parse(manifest),
    };
  } catch {
    throw new Refusal(
      `--from: ${join(folder, MANIFEST)} is damaged, or of a later version. Use another snapshot, or another copy of it.`,
    );
  }
}

function requireKeys(manifest: BackupManifest): void {
  const { opens } = vaultKeys();
  const lacking = manifest.vaultKeys.filter((id) => !opens.includes(id));
  if (lacking.length > 0)
    throw new Refusal(
      `CAPSTAN_VAULT_KEY: this backup needs vault key ${lacking.join(", ")}, and this installation has ${opens.join(", ")}. Set the key that the original had, and older ones in CAPSTAN_VAULT_OTHER_KEYS.`,
    );
}

async function requireMigrations({ capstan, migrations }: BackupManifest): Promise<void> {
  const known = new Map(
    (await readMigrations("prisma/migrations")).map(({ name, checksum }) => [name, checksum]),
  );
  const strange = migrations.find(({ name, checksum }) => known.get(name) !== checksum);
  if (strange)
    throw new Refusal(
      `--from: this backup is of Capstan ${capstan} with the migration ${strange.name}, which this version does not have. Restore with that version or a later one.`,
    );
}

async function requireFile(folder: string, table: BackupManifest["tables"][number]): Promise<void> {
  const path = tableFile(folder, table.name);
  const size = await stat(path).then(
    ({ size }) => size,
    () => null,
  );
  const hash = createHash("sha256");
  if (size === table.bytes) await pipeline(createReadStream(path), hash);
  if (size !== table.bytes || hash.digest("hex") !== table.sha256)
    throw new Refusal(
      `--from: ${path} is missing, truncated or was changed. Use another snapshot, or another copy of this one.`,
    );
}
