import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { startPostgres } from "../scripts/launch/postgres";
import { applyMigrations } from "../scripts/migrations";

/**
 * One world for the whole run (and for every rerun of a watch): a real PostgreSQL with all migrations and the
 * sandbox provider, told to the test workers through their environment. Gone when the run ends.
 */
export default async function setup() {
  const directory = await mkdtemp(join(tmpdir(), "capstan-test-"));
  await chmod(directory, 0o711); // the database server may run as another user
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const teardown = async () => {
    for (const stop of stops.reverse()) await stop();
  };
  try {
    const postgres = await startPostgres({
      dataDir: directory,
      logFile: join(directory, "postgres.log"),
      disposable: true,
    });
    stops.push(postgres.stop);
    await allowDatabases(postgres.url, join(directory, "postgres.password"));
    Object.assign(process.env, {
      NODE_ENV: "test",
      CAPSTAN_ENV: "development",
      CAPSTAN_DATA_DIR: directory,
      DATABASE_URL: postgres.url,
      DATABASE_POOL: "10",
      NEXTAUTH_SECRET: "a secret for tests only, never used elsewhere",
      NEXTAUTH_URL: "http://127.0.0.1:3000",
      CAPSTAN_VAULT_KEY: Buffer.from("a vault key for the tests, 32 by").toString("base64"),
      LOG_LEVEL: process.env.LOG_LEVEL ?? "silent",
    });
    await applyMigrations(postgres.url);
    // After the environment is set: these modules read it when they load.
    const engine = await load<{ migrateEngine?(): Promise<unknown> }>("inngest/embedded/index.ts");
    await engine?.migrateEngine?.();
    const database = await load<{ closeDatabase(): Promise<void> }>("server/db.ts");
    stops.push(() => database?.closeDatabase() ?? Promise.resolve());
    const sandbox = await load<{
      startSandbox(o: {
        port: number;
        dataDir: string;
        slowMs: number;
      }): Promise<{ url: string; stop(): Promise<void> }>;
    }>("server/sandbox/server.ts");
    if (sandbox) {
      const server = await sandbox.startSandbox({
        port: 0,
        dataDir: join(directory, "sandbox"),
        slowMs: 7_000,
      });
      stops.push(server.stop);
      process.env.SANDBOX_URL = server.url;
    }
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

/** A module of the product, or null while it does not exist. */
async function load<T>(path: string): Promise<T | null> {
  return existsSync(path) ? ((await import(pathToFileURL(path).href)) as T) : null; // the caller names the module it loads
}

/** Lets tests make databases of their own. */
async function allowDatabases(url: string, passwordFile: string): Promise<void> {
  const { port } = new URL(url);
  const password = (await readFile(passwordFile, "utf8")).trim();
  const superuser = {
    host: "127.0.0.1",
    port: Number(port),
    user: "postgres",
    password,
    database: "postgres",
  };
  const client = new pg.Client(superuser);
  await client.connect();
  try {
    await client.query("ALTER ROLE capstan CREATEDB");
  } finally {
    await client.end();
  }
}
