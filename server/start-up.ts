import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import type pg from "pg";
import { artifactStore } from "@/server/domain/artifacts";
import { checkVaultKey, plantCanary } from "@/server/domain/vault";
import { restoreHold } from "@/server/generated/schema";
import type { Queryable } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env, SETTINGS } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { checkSettings, settingWarnings } from "@/server/platform/settings/secrets";
import { providers } from "@/server/providers/registry.gen";
import { bool, column, maybe } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Deadline of each check. */
const PATIENCE_MS = 2_500;
/** The names of all settings, those of providers included. */
export const ALL_SETTINGS = [
  ...SETTINGS,
  ...providers.flatMap(({ environment: { credentials, baseUrl } }) => [
    ...Object.values(credentials),
    baseUrl,
  ]),
];
const MIGRATIONS = "prisma/migrations";

/**
 * `warnings` are sentences for the operator; a process starts despite them. `refused` is the sentence because
 * of which a process does not start; null if there is none.
 */
export type Finding = { check: string; warnings: string[]; refused: string | null };

type Check = (db: Queryable) => Promise<string[] | undefined>;
const OF_DATABASE: [string, Check][] = [
  ["role", checkRole],
  ["schema", checkSchema],
  ["vault key", async (db) => void (await checkVaultKey(db))],
  ["held work", checkHeld],
];

/**
 * Finds out whether this installation can run with its settings and this pool, check by check: settings,
 * database, role, schema, vault key, held work and artifact store. If the settings are refused, nothing else
 * is checked; after a refused check of the database, the later ones are left out. Nothing is changed, except
 * that a file is written to the artifact store and removed. The checks of the database and the store have a
 * deadline.
 */
export async function examine(from: pg.Pool): Promise<Finding[]> {
  const findings = [
    await find("settings", async () => {
      checkSettings(env, Object.keys(process.env), ALL_SETTINGS);
      return settingWarnings();
    }),
  ];
  if (findings[0]?.refused) return findings;
  const connecting = connect(from);
  findings.push(await find("database", async () => void (await connecting)));
  const client = await connecting.catch(() => null);
  for (const [name, check] of OF_DATABASE) {
    if (!client || findings.some(({ refused }) => refused)) break;
    findings.push(await find(name, () => within(check(client))));
  }
  const isWhole = findings.slice(1).every(({ warnings, refused }) => !refused && warnings.length === 0);
  client?.release(!isWhole); // true closes the connection: a statement of a check that timed out may still run on it
  findings.push(await find("artifact store", () => within(checkStore())));
  return findings;
}

/**
 * For the start of a process, before it listens: logs the warnings, and throws a Refusal with one sentence
 * for each refused check. If none is refused, the canary is sealed unless it exists, so the vault key of the
 * first start becomes the installation's.
 */
export async function checkStart(from: pg.Pool, port?: number): Promise<void> {
  const findings = await examine(from);
  if (port) findings.push(await find("port", () => checkPort(port)));
  for (const warning of findings.flatMap(({ warnings }) => warnings)) log.warn(warning);
  const refused = findings.flatMap((finding) => finding.refused ?? []);
  if (refused.length > 0) throw new Refusal(refused.join("\n"));
  await plantCanary(from);
}

async function find(check: string, run: () => Promise<string[] | undefined>): Promise<Finding> {
  try {
    return { check, warnings: (await run()) ?? [], refused: null };
  } catch (error) {
    if (error instanceof Refusal) return { check, warnings: [], refused: error.message };
    // A check that fails for another reason, such as a slow database, is only a warning.
    const why = error instanceof Error ? error.message : String(error);
    return { check, warnings: [`The check of the ${check} failed: ${why}`], refused: null };
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function connect(from: pg.Pool): Promise<pg.PoolClient> {
  const connecting = from.connect();
  try {
    return await within(connecting);
  } catch (error) {
    connecting.then(
      (late) => late.release(true),
      () => {},
    );
    if (error instanceof Refusal) throw error;
    const { code = "", message = "" } = error as { code?: string; message?: string }; // pg and sockets reject with errors
    if (code === "3D000")
      throw new Refusal("DATABASE_URL: the server has no such database. Create it, or correct the name.");
    if (code.startsWith("28"))
      throw new Refusal("DATABASE_URL: the server refuses this role or its password. Correct them.");
    throw new Refusal(
      `DATABASE_URL: the database does not respond (${code || message}). Start it, or correct host and port.`,
    );
  }
}

const findMissingRight = statement("role.find.missing_right", {
  row: { mayNot: maybe(bool) },
  sql: `SELECT bool_or(NOT has_table_privilege(oid, privilege)) AS "mayNot"
     FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
     WHERE relnamespace = current_schema()::regnamespace
       AND relname IN ('_prisma_migrations', 'job', 'receipt', 'vault_process')`,
});

async function checkRole(db: Queryable): Promise<undefined> {
  const rows = await findMissingRight.all(db, {});
  if (rows[0]?.mayNot)
    throw new Refusal(
      "DATABASE_URL: this role may not use the tables of the installation. Use the role that applied the migrations.",
    );
}

const listHolds = statement("restore_hold.list.kinds", {
  row: { kind: restoreHold.kind },
  sql: `SELECT kind FROM restore_hold ORDER BY kind`,
});

/**
 * Warns that the installation was restored and holds unfinished work. The process starts and leaves that work
 * alone.
 */
async function checkHeld(db: Queryable): Promise<string[]> {
  const rows = await listHolds.all(db, {});
  if (rows.length === 0) return [];
  const kinds = rows.map(({ kind }) => kind).join(", ");
  return [
    `This installation was restored and holds unfinished work (${kinds}). See it, then let it go on: npm run admin -- restore release`,
  ];
}

const findMigrations = statement("migration.find.table", {
  row: { exists: bool },
  sql: `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
});

const listApplied = statement("migration.list.applied", {
  row: { name: column<string>("varchar") },
  sql: `SELECT migration_name AS name FROM _prisma_migrations
         WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
});

/**
 * Throws a Refusal if the database lacks migrations of this code, and changes nothing. Later migrations are a
 * warning, because the processes of an upgrade overlap.
 */
async function checkSchema(db: Queryable): Promise<string[]> {
  const known = (await readdir(MIGRATIONS, { withFileTypes: true })).filter((each) => each.isDirectory());
  const table = await findMigrations.first(db, {});
  const rows = table?.exists ? await listApplied.all(db, {}) : [];
  const applied = new Set(rows.map(({ name }) => name));
  const missing = known.map(({ name }) => name).filter((name) => !applied.has(name));
  if (missing.length > 0)
    throw new Refusal(
      `DATABASE_URL: the database lacks ${missing.length} of the migrations of this version. Back it up, then run: npm run start -- migrate apply`,
    );
  return applied.size > known.length
    ? ["The database has migrations of a later version. Start the processes of that version."]
    : [];
}

async function checkStore(): Promise<undefined> {
  const store = artifactStore();
  const setting = env.ARTIFACT_STORE === "s3" ? "S3_BUCKET" : "CAPSTAN_DATA_DIR";
  try {
    const { sha256 } = await store.put(randomBytes(32));
    for await (const _ of await store.open(sha256)); // to the end
    await store.remove(sha256);
  } catch {
    throw new Refusal(
      `${setting}: artifacts cannot be written and read there. Check that it exists and that this process has the rights.`,
    );
  }
}

function checkPort(port: number): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", ({ code }: NodeJS.ErrnoException) => {
      const isPort = code === "EADDRINUSE" || code === "EACCES";
      const [fault, remedy] = isPort
        ? [`Port ${port} on ${env.HOST} is in use or not allowed.`, "Choose another PORT or WORKER_PORT."]
        : [`HOST: ${env.HOST} is not an address of this machine (${code}).`, "Set one, or 0.0.0.0 for all."];
      reject(new Refusal(`${fault} ${remedy}`));
    });
    server.listen(port, env.HOST, () => server.close(() => resolve(undefined)));
  });
}
