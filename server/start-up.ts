import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import pg from "pg";
import { artifactStore } from "@/server/domain/artifacts";
import { SEALED_COLUMNS } from "@/server/domain/vault";
import { env } from "@/server/env";
import { log } from "@/server/log";
import { Refusal } from "@/server/refusal";
import { checkSettings, settingWarnings } from "@/server/secrets";
import { sealedUnder, vaultKeys } from "@/server/vault";

/** Of each check, and of each statement in one. */
const PATIENCE_MS = 2_500;
const MIGRATIONS = "prisma/migrations";

/** `warnings` are sentences for the operator beside which a process starts; `refused` is one beside which it does not. */
export type Finding = { check: string; warnings: string[]; refused: string | null };

type Check = (client: pg.Client) => Promise<string[] | undefined>;

/**
 * Whether this installation can run with its settings, check by check: settings, database, role, schema, vault key and artifact
 * store. After a database that cannot be used, those that ask it are left out. Nothing is changed, but for a file that is
 * written to the artifact store and removed. Each check has a deadline.
 */
export async function examine(): Promise<Finding[]> {
  const settings = await find("settings", async () => {
    checkSettings();
    return settingWarnings();
  });
  if (settings.refused) return [settings];
  const client = new pg.Client({
    connectionString: env.DATABASE_URL,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    options: "-c capstan.project_id=*",
    application_name: "capstan",
  });
  client.on("error", () => {}); // the statement that runs fails with it
  const findings = [settings, await find("database", () => connect(client))];
  const ofDatabase: [string, Check][] = [
    ["schema", checkSchema],
    ["role", checkRole],
    ["vault key", checkVaultKey],
  ];
  try {
    for (const [name, check] of ofDatabase) {
      if (findings.some(({ refused }) => refused)) break;
      findings.push(await find(name, () => check(client)));
    }
  } finally {
    await client.end().catch(() => {});
  }
  findings.push(await find("artifact store", () => within(checkStore())));
  return findings;
}

/** For the start of a process, before it listens: logs the warnings, and throws a Refusal with one sentence for each refused check. */
export async function checkStart(port?: number): Promise<void> {
  const findings = await examine();
  if (port) findings.push(await find("port", () => checkPort(port)));
  for (const warning of findings.flatMap(({ warnings }) => warnings)) log.warn(warning);
  const refused = findings.flatMap((finding) => finding.refused ?? []);
  if (refused.length > 0) throw new Refusal(refused.join("\n"));
}

async function find(check: string, run: () => Promise<string[] | undefined>): Promise<Finding> {
  try {
    return { check, warnings: (await run()) ?? [], refused: null };
  } catch (error) {
    if (error instanceof Refusal) return { check, warnings: [], refused: error.message };
    // A check that cannot be made, in a slow database for instance, keeps nobody from starting.
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

async function connect(client: pg.Client): Promise<undefined> {
  try {
    await client.connect();
  } catch (error) {
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

/** Older than this code: refused, and left as it is. Newer: the processes of an upgrade overlap, so a warning. */
async function checkSchema(client: pg.Client): Promise<string[]> {
  const known = (await readdir(MIGRATIONS, { withFileTypes: true })).filter((each) => each.isDirectory());
  const { rows: tables } = await client.query(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists",
  );
  const { rows } = tables[0].exists
    ? await client
        .query<{ name: string }>(
          `SELECT migration_name AS name FROM _prisma_migrations
           WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
        )
        .catch(refuseRole)
    : { rows: [] };
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

function refuseRole(error: unknown): never {
  if (!(error instanceof pg.DatabaseError) || error.code !== "42501") throw error;
  throw new Refusal(ROLE);
}
const ROLE =
  "DATABASE_URL: this role may not use the tables of the installation. Use the role that applied the migrations.";

async function checkRole(client: pg.Client): Promise<undefined> {
  const { rows } = await client.query<{ may: boolean }>(
    `SELECT bool_and(has_table_privilege(oid, privilege)) AS may
     FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
     WHERE relnamespace = current_schema()::regnamespace AND relname IN ('job', 'receipt', 'vault_process')`,
  );
  if (!rows[0]?.may) throw new Refusal(ROLE);
}

/** A sealed value names the hash of the key that sealed it: the last one of each table must be one of those that are here. */
async function checkVaultKey(client: pg.Client): Promise<undefined> {
  const { opens } = vaultKeys();
  for (const { table, column, key, when } of SEALED_COLUMNS) {
    const order = Object.keys(key).map((name) => `${name} DESC`);
    const { rows } = await client.query<{ sealed: string }>(
      `SELECT ${column} AS sealed FROM ${table} WHERE ${when} ORDER BY ${order.join(", ")} LIMIT 1`,
    );
    const needed = rows[0] && sealedUnder(rows[0].sealed);
    if (needed && !opens.includes(needed))
      throw new Refusal(
        `CAPSTAN_VAULT_KEY: the database was encrypted with vault key ${needed}, and this is ${opens.join(", ")}. Set the key that belongs to this database.`,
      );
  }
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
    const server = createServer().once("error", () =>
      reject(
        new Refusal(
          `Port ${port} on ${env.HOST} is in use or not allowed. Choose another PORT or WORKER_PORT.`,
        ),
      ),
    );
    server.listen(port, env.HOST, () => server.close(() => resolve(undefined)));
  });
}
