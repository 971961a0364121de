import pg from "pg";
import { copyAllIn } from "@/scripts/backup/tables";
import { applyMigrations, readMigrations } from "@/scripts/migrate/migrations";
import { refuseAuditAlone } from "../setup/audit-law";
import { copyDatabase } from "../setup/copy-database";
import { readDump } from "./dump";
import { type Known, ROWS, readKnown } from "./known";

/** Template databases: the dump of 0.2.0, and the same after today's migrations. The first user builds each once per run. */
const OLD = "upgrades_old";
const MIGRATED = "upgrades_migrated";
const BUILD_LOCK = 20_020; // a lock among builders; nothing else takes locks in the database `postgres`

const addressOf = (database: string) => {
  const address = new URL(process.env.DATABASE_URL ?? "");
  address.pathname = `/${database}`;
  return address.href;
};

/** Fills an empty database with the schema and rows of 0.2.0. Throws if a migration of that version was edited since. */
export async function restoreOld(databaseUrl: string): Promise<void> {
  const dump = readDump(ROWS);
  const today = new Map(
    (await readMigrations("prisma/migrations")).map(({ name, checksum }) => [name, checksum]),
  );
  for (const { name, checksum } of dump.migrations)
    if (today.get(name) !== checksum) throw new Error(`The migration ${name} is not that of 0.2.0 any more.`);
  const names = dump.migrations.map(({ name }) => name);
  await applyMigrations(databaseUrl, undefined, names);
  const client = new pg.Client({ connectionString: databaseUrl, options: "-c capstan.project_id=*" });
  await client.connect();
  try {
    await client.query("BEGIN");
    await copyAllIn(client, dump, dump.open);
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}

/** A new database of this run with the rows and schema of 0.2.0, for tests of one migration. */
export async function openOld(): Promise<{ url: string; known: Known }> {
  const name = `old_${process.pid}_${Date.now().toString(36)}`;
  await asMaker(async (maker) => {
    await build(maker);
    await maker.query(`CREATE DATABASE ${name} TEMPLATE ${OLD}`);
  });
  return { url: addressOf(name), known: readKnown() };
}

/**
 * Replaces this process's database by the dump after today's migrations. For `x.isolated.test.ts`, in `beforeAll` and before
 * anything queries the database.
 */
export async function openUpgraded(): Promise<Known> {
  const own = new URL(process.env.DATABASE_URL ?? "").pathname.slice(1);
  await asMaker(async (maker) => {
    await build(maker);
    await maker.query(`DROP DATABASE ${own} WITH (FORCE)`);
    await copyDatabase(maker, own, MIGRATED);
  });
  return readKnown();
}

async function asMaker(work: (maker: pg.Client) => Promise<void>): Promise<void> {
  const maker = new pg.Client({ connectionString: addressOf("postgres") });
  await maker.connect();
  try {
    await maker.query("SELECT pg_advisory_lock($1)", [BUILD_LOCK]);
    await work(maker);
  } finally {
    await maker.end();
  }
}

async function build(maker: pg.Client): Promise<void> {
  const { rowCount } = await maker.query("SELECT FROM pg_database WHERE datname = $1", [MIGRATED]);
  if (rowCount) return;
  await maker.query(`DROP DATABASE IF EXISTS ${OLD}`); // left by a builder that failed
  await maker.query(`CREATE DATABASE ${OLD}`);
  await restoreOld(addressOf(OLD));
  const unfinished = `${MIGRATED}_unfinished`;
  await maker.query(`DROP DATABASE IF EXISTS ${unfinished}`);
  await maker.query(`CREATE DATABASE ${unfinished} TEMPLATE ${OLD}`);
  await applyMigrations(addressOf(unfinished));
  await refuseAuditAlone(addressOf(unfinished));
  const { migrateEngine } = await import("@/inngest/embedded/migrate"); // imported late, because it reads the settings
  await migrateEngine(addressOf(unfinished));
  await maker.query(`ALTER DATABASE ${unfinished} RENAME TO ${MIGRATED}`);
}
