import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { migrateEngine } from "@/inngest/embedded/migrate";
import { keyPrefix, makeKeyText } from "@/server/domain/access/key-text";
import { DEFAULT_SCOPES } from "@/server/domain/ctx";
import { newId } from "@/server/platform/ids";
import { type Postgres, startPostgres } from "../../scripts/launch/postgres";
import { RUNTIME_ENV, runtimeFlags } from "../../scripts/launch/process-flags";
import { freePort } from "../../scripts/launch/system";
import { applyMigrations } from "../../scripts/migrate/migrations";
import { programCommand } from "./peers";
import { LOAD_CORE, type Running, SUBJECT_CORE, start, untilAnswers } from "./processes";

/** There are enough projects that no load meets the limit of unfinished jobs of one project. */
const PROJECTS = 100;

export type World = {
  directory: string;
  log(name: string): string;
  postgres: Postgres;
  database: pg.Pool;
  /** URL of the product's database for the role that may read the write-ahead log. */
  superuserUrl: string;
  /** URL of another database of the same server: processes hear the notifications of all others in their database. */
  peerDatabaseUrl: string;
  /** Key that opens every project. */
  apiKey: string;
  projects: string[];
  /** One more project, whose jobs are kept waiting. */
  crowdedProject: string;
  /** Server that answers every chat completion at once. */
  upstream: { url: string; running: Running };
  /** Starts a process of the product on the subject's core; `providerUrl` is the base URL of its provider. */
  startPart(
    name: "web" | "worker",
    providerUrl: string,
    extraArgs?: string[],
    extraEnv?: Record<string, string>,
  ): Promise<Part>;
  /** Starts the sandbox beside the load. */
  startSandbox(): Promise<Part>;
  /** Runs ANALYZE, as autovacuum does for a new database within its first minute: the planner learns how large the tables are. */
  analyze(): Promise<void>;
  close(): Promise<void>;
};

export type Part = { url: string; running: Running };

/**
 * Opens an installation in a folder that is removed when this process exits: PostgreSQL as the product runs it, a key, projects,
 * a provider.
 */
export async function openWorld(): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  chmodSync(directory, 0o711); // PostgreSQL may run as another user, who has to pass through
  process.once("exit", () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(directory, "logs"));
  const log = (name: string) => join(directory, "logs", `${name}.log`);
  const postgres = await startPostgres({ dataDir: directory, logFile: log("postgres") });
  await applyMigrations(postgres.url);
  await migrateEngine(postgres.url);
  const superuserUrl = asSuperuser(directory, postgres);
  const peerDatabaseUrl = await addDatabase(superuserUrl, postgres, "peer");
  const database = new pg.Pool({
    connectionString: postgres.url,
    // Rows are counted by the hundred thousand here, where joins by index are slow.
    options: "-c capstan.project_id=* -c enable_nestloop=off",
    max: 4,
  });
  const { apiKey, projects: all } = await seed(database);
  const [crowdedProject = "", ...projects] = all;
  const upstreamPort = await freePort();
  const upstreamRunning = start("upstream", LOAD_CORE, programCommand("upstream", String(upstreamPort)), {
    log: log("upstream"),
  });
  const upstream = { url: `http://127.0.0.1:${upstreamPort}`, running: upstreamRunning };
  await untilAnswers(upstream.url, upstreamRunning, log("upstream"));

  const secrets = { session: randomBytes(32).toString("hex"), vault: randomBytes(32).toString("base64") };

  async function startPart(
    name: "web" | "worker",
    providerUrl: string,
    extraArgs: string[] = [],
    extraEnv: Record<string, string> = {},
  ): Promise<Part> {
    const port = await freePort();
    const env: NodeJS.ProcessEnv = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: "production",
      CAPSTAN_ENV: "production",
      CAPSTAN_DATA_DIR: directory,
      DATABASE_URL: postgres.url,
      PUBLIC_URL: "https://bench.invalid",
      NEXTAUTH_URL: "https://bench.invalid",
      NEXTAUTH_SECRET: secrets.session,
      CAPSTAN_VAULT_KEY: secrets.vault,
      HOST: "127.0.0.1",
      PORT: String(port),
      LOG_LEVEL: "warn",
      ALLOW_PRIVATE_ADDRESSES: "1",
      OPENAI_COMPATIBLE_BASE_URL: `${providerUrl}/v1`,
      OPENAI_COMPATIBLE_MODELS: "bench:1:2",
      RATE_LIMIT_KEY_PER_MINUTE: "1000000000",
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000000000",
      NEXT_TELEMETRY_DISABLED: "1",
      ...RUNTIME_ENV,
      ...extraEnv,
    };
    const command = [process.execPath, ...runtimeFlags(name), ...extraArgs, `dist/${name}.mjs`];
    const running = start(name, SUBJECT_CORE, command, { env, log: log(name) });
    const url = `http://127.0.0.1:${port}`;
    if (name === "web") await untilAnswers(`${url}/readyz`, running, log(name));
    return { url, running };
  }

  async function startSandbox(): Promise<Part> {
    const port = await freePort();
    const running = start("sandbox", LOAD_CORE, [process.execPath, "dist/sandbox.mjs"], {
      env: { ...process.env, CAPSTAN_DATA_DIR: directory, SANDBOX_PORT: String(port) },
      log: log("sandbox"),
    });
    const url = `http://127.0.0.1:${port}`;
    await untilAnswers(`${url}/healthz`, running, log("sandbox"));
    return { url, running };
  }

  return {
    directory,
    log,
    postgres,
    database,
    superuserUrl,
    peerDatabaseUrl,
    apiKey,
    projects,
    crowdedProject,
    upstream,
    startPart,
    startSandbox,
    async analyze() {
      await database.query("ANALYZE");
      const peer = new pg.Client({ connectionString: peerDatabaseUrl });
      await peer.connect();
      await peer.query("ANALYZE");
      await peer.end();
    },
    async close() {
      await database.end();
      await postgres.stop();
    },
  };
}

function asSuperuser(directory: string, { url }: Postgres): string {
  const address = new URL(url);
  address.username = "postgres";
  address.password = readFileSync(join(directory, "postgres.password"), "utf8").trim();
  return address.href;
}

/** Adds a database for the role `capstan`, which may not do that itself, and returns its URL. */
async function addDatabase(superuserUrl: string, { url }: Postgres, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${name} OWNER capstan`);
  await client.end();
  const address = new URL(url);
  address.pathname = name;
  return address.href;
}

async function seed(database: pg.Pool): Promise<{ apiKey: string; projects: string[] }> {
  const organizationId = newId("organization");
  const projects = Array.from({ length: PROJECTS + 1 }, () => newId("project"));
  const apiKey = makeKeyText("production");
  await database.query("INSERT INTO organization (id, display_name) VALUES ($1, 'Bench')", [organizationId]);
  // The organization has paid ahead, as managed executions require.
  await database.query(
    "INSERT INTO wallet (organization_id, is_test, balance_micros, created_at) VALUES ($1, false, $2, now()), ($1, true, $2, now())",
    [organizationId, 1_000_000_000_000],
  );
  await database.query(
    `INSERT INTO project (id, organization_id, display_name, slug)
     SELECT id, $2, 'Bench ' || number, 'bench-' || number FROM unnest($1::text[]) WITH ORDINALITY AS each (id, number)`,
    [projects, organizationId],
  );
  await database.query(
    `INSERT INTO environment (id, project_id, slug, display_name)
     SELECT 'env_' || substr(id, 5), id, 'production', 'Production' FROM unnest($1::text[]) AS each (id)`,
    [projects],
  );
  await database.query(
    `INSERT INTO api_key (id, organization_id, environment, name, prefix, hash, scopes)
     VALUES ($1, $2, 'production', 'bench', $3, $4, $5)`,
    [
      newId("key"),
      organizationId,
      keyPrefix(apiKey),
      createHash("sha256").update(apiKey).digest(),
      [...DEFAULT_SCOPES],
    ],
  );
  return { apiKey, projects };
}
