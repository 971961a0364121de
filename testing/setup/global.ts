import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startPostgres } from "../../scripts/launch/postgres";
import { applyMigrations } from "../../scripts/migrate/migrations";
import { refuseAuditAlone } from "./audit-law";

/**
 * The server's time zone, half an hour off from most others; `npm run test:long` sets another. Connections of the product's
 * role use UTC regardless.
 */
const ZONE = process.env.CAPSTAN_TEST_ZONE ?? "Asia/Kolkata";

type World = { stop(): Promise<void> };

// Two projects of the configuration need it, each with its own modules.
const shared = globalThis as { capstanTestWorld?: { world: Promise<World>; users: number } };

/**
 * One world for the whole run, and for reruns of a watch: a real PostgreSQL whose migrated database is the template of every
 * worker's own, and the sandbox provider. Workers find both in their environment. It ends with the run.
 */
export default async function setup() {
  shared.capstanTestWorld ??= { world: start(), users: 0 };
  const slot = shared.capstanTestWorld;
  slot.users++;
  const world = await slot.world;
  return async () => {
    if (--slot.users > 0) return;
    shared.capstanTestWorld = undefined;
    await world.stop();
  };
}

async function start(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-test-"));
  await chmod(directory, 0o711); // the database server may run as another user
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const postgres = await startPostgres({
      dataDir: directory,
      logFile: join(directory, "postgres.log"),
      disposable: true,
      zone: ZONE,
    });
    stops.push(postgres.stop);
    await allowDatabases(postgres.url, join(directory, "postgres.password"));
    Object.assign(process.env, {
      CAPSTAN_DATA_DIR: directory,
      DATABASE_URL: postgres.url,
      CAPSTAN_TEST_ZONE: ZONE,
    });
    await applyMigrations(postgres.url);
    await refuseAuditAlone(postgres.url);
    // Imported after the environment is set, which these modules read when they load.
    const { migrateEngine } = await import("../../inngest/embedded/migrate");
    await migrateEngine(postgres.url);
    const { startSandbox } = await import("../../server/sandbox/server");
    const sandbox = await startSandbox({ port: 0, dataDir: join(directory, "sandbox"), slowMs: 7_000 });
    stops.push(sandbox.stop);
    process.env.SANDBOX_URL = sandbox.url;
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/** Allows workers to create databases. */
async function allowDatabases(url: string, passwordFile: string): Promise<void> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: Number(new URL(url).port),
    user: "postgres",
    password: (await readFile(passwordFile, "utf8")).trim(),
    database: "postgres",
  });
  await client.connect();
  try {
    await client.query("ALTER ROLE capstan CREATEDB");
  } finally {
    await client.end();
  }
}
