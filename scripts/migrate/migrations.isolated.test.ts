import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { applyMigrations, readMigrations } from "./migrations";
import { diffSchemas } from "./schema-diff";

const BASE = 'datasource db {\n  provider = "postgresql"\n}\n';
const ONE = `${BASE}model Thing {\n  id String @id\n  @@map("thing")\n}\n`;
const TWO = ONE.replace("@@map", '  projectId String? @map("project_id")\n  @@map');

/** Tables of this file live in a schema of their own. */
const schema = newId("request");
const address = new URL(process.env.DATABASE_URL ?? "");
address.searchParams.set("options", `-c search_path=${schema} -c capstan.project_id=*`);
const url = address.href.replaceAll("+", "%20"); // PostgreSQL does not read a plus sign as a space
let client: pg.Client;
let folder: string;

beforeAll(async () => {
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE SCHEMA ${schema}`);
});
afterAll(async () => {
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.end();
});
beforeEach(async () => {
  await client.query(`DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}`);
  folder = mkdtempSync(join(tmpdir(), "capstan-migrations-"));
  return () => rmSync(folder, { recursive: true, force: true });
});

function put(name: string, sql: string) {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "migration.sql"), sql);
}
const history = async () =>
  (await client.query("SELECT migration_name AS name FROM _prisma_migrations ORDER BY started_at")).rows.map(
    (row) => row.name,
  );

test("the difference of two schemas is SQL, made without a database", async () => {
  expect(await diffSchemas(null, ONE)).toContain('CREATE TABLE "thing"');
  expect(await diffSchemas(ONE, TWO)).toContain('ALTER TABLE "thing" ADD COLUMN     "project_id" TEXT');
  expect(await diffSchemas(ONE, ONE)).toContain("This is an empty migration");
});

test("a migration that met the work of others is tried again", async () => {
  await client.query("CREATE SEQUENCE met");
  // No rollback takes a number of a sequence back.
  const refusal = "IF nextval('met') < 3 THEN RAISE EXCEPTION 'met' USING ERRCODE = '40P01'; END IF;";
  put("0001_init", `CREATE TABLE once (id int); DO $$ BEGIN ${refusal} END $$;`);
  expect(await applyMigrations(url, folder)).toEqual(["0001_init"]);
  expect(await history()).toEqual(["0001_init"]);
});

test("migrations apply in order and once", async () => {
  put("0001_init", await diffSchemas(null, ONE));
  expect(await applyMigrations(url, folder)).toEqual(["0001_init"]);
  put("0002_more", await diffSchemas(ONE, TWO));
  expect(await applyMigrations(url, folder)).toEqual(["0002_more"]);
  expect(await applyMigrations(url, folder)).toEqual([]);
  expect(await history()).toEqual(["0001_init", "0002_more"]);
});

test("eight concurrent runs apply a migration once", async () => {
  put("0001_init", await diffSchemas(null, ONE));
  const applied = await Promise.all(Array.from({ length: 8 }, () => applyMigrations(url, folder)));
  expect(applied.flat()).toEqual(["0001_init"]);
});

const INDEX = '-- Why.\nCREATE INDEX CONCURRENTLY "thing_index" ON "thing" ("id");\n';
const isValid = async () =>
  (
    await client.query(
      "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('thing_index')",
    )
  ).rows;

test("four concurrent runs create an index concurrently once, and a migration drops it concurrently", async () => {
  put("0001_init", await diffSchemas(null, ONE));
  put("0002_index", INDEX);
  const applied = await Promise.all(Array.from({ length: 4 }, () => applyMigrations(url, folder)));
  expect(applied.flat()).toEqual(["0001_init", "0002_index"]);
  expect(await isValid()).toEqual([{ valid: true }]);
  put("0003_gone", 'DROP INDEX CONCURRENTLY IF EXISTS "thing_index";\n');
  expect(await applyMigrations(url, folder)).toEqual(["0003_gone"]);
  expect(await isValid()).toEqual([]);
});

test("an index whose making was interrupted is made again, and one that was finished is only recorded", async () => {
  put("0001_init", await diffSchemas(null, ONE));
  await applyMigrations(url, folder);
  await client.query("INSERT INTO thing VALUES ('a'), ('aa')");
  const unique = 'CREATE UNIQUE INDEX CONCURRENTLY "thing_index" ON "thing" (left("id", 1))';
  await expect(client.query(unique)).rejects.toThrow(/could not create unique index/);
  expect(await isValid()).toEqual([{ valid: false }]);
  put("0002_index", INDEX);
  expect(await applyMigrations(url, folder)).toEqual(["0002_index"]);
  expect(await isValid()).toEqual([{ valid: true }]);
  await client.query("DELETE FROM _prisma_migrations WHERE migration_name = '0002_index'");
  expect(await applyMigrations(url, folder)).toEqual(["0002_index"]);
  expect(await history()).toEqual(["0001_init", "0002_index"]);
});

test("a failed migration leaves nothing behind and can be tried again", async () => {
  put("0001_init", "CREATE TABLE half (id int); SELECT no_such_function();");
  await expect(applyMigrations(url, folder)).rejects.toThrow(/0001_init.*no_such_function/);
  expect(await history()).toEqual([]);
  put("0001_init", "CREATE TABLE half (id int);");
  expect(await applyMigrations(url, folder)).toEqual(["0001_init"]);
});

test("an edited migration is refused", async () => {
  put("0001_init", "CREATE TABLE a (id int);");
  await applyMigrations(url, folder);
  put("0001_init", "CREATE TABLE a (id int, more int);");
  await expect(applyMigrations(url, folder)).rejects.toThrow(/was changed after/);
});

test("a database of a newer version is refused", async () => {
  put("0001_init", "CREATE TABLE a (id int);");
  put("0002_newer", "CREATE TABLE b (id int);");
  await applyMigrations(url, folder);
  rmSync(join(folder, "0002_newer"), { recursive: true });
  await expect(applyMigrations(url, folder)).rejects.toThrow(/of another version/);
});

test("the schema and the newest migration agree", async () => {
  const together = (folder: string) =>
    readdirSync(folder)
      .sort()
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
  expect(readFileSync("prisma/migrations/schema.snapshot.prisma", "utf8")).toBe(together("prisma/schema"));
  const migrations = await readMigrations("prisma/migrations");
  if (migrations.length === 1) expect(migrations[0]!.sql.endsWith(together("prisma/guards"))).toBe(true);
});

describe("a database with an older ledger, which has one row for each posting", () => {
  const LEDGER = "20261126073000_ledger_transactions";
  const own = (name: string) =>
    cpSync(join("prisma/migrations", name), join(folder, name), { recursive: true });
  const entries = async () => (await client.query("SELECT * FROM ledger_entry ORDER BY id")).rows;
  const post = (transaction: string, account: string, micros: number, currency = "USD") =>
    client.query(
      `INSERT INTO ledger_entry (transaction_id, organization_id, job_id, account, amount_micros, currency, kind, created_at)
       VALUES ($1, 'org_1', 'job_1', $2, $3, $4, 'charge', '2026-01-01Z')`,
      [transaction, account, micros, currency],
    );
  beforeEach(async () => {
    await client.query(
      "SELECT set_config('search_path', $1, false), set_config('capstan.project_id', '*', false)",
      [schema],
    );
    for (const { name } of await readMigrations("prisma/migrations")) if (name < LEDGER) own(name);
    await applyMigrations(url, folder);
  });

  test("every posting keeps its number", async () => {
    await post("txn_1", "service_fee", 6);
    await post("txn_2", "exchange", 5, "EUR");
    await post("txn_1", "wallet:org_1", -106);
    await post("txn_1", "provider:sandbox", 100);
    await post("txn_2", "payments:stripe", -5, "EUR");
    const before = await entries();
    own(LEDGER);
    await applyMigrations(url, folder);
    expect(await entries()).toEqual(before);
    const { rows } = await client.query(
      "SELECT id::int, account FROM account_line WHERE account = 'wallet:org_1'",
    );
    expect(rows).toEqual([{ id: 3, account: "wallet:org_1" }]);
    const { rows: next } = await client.query("SELECT nextval('ledger_transaction_id_seq')::int AS id");
    expect(next[0].id).toBeGreaterThan(5);
  });

  test("a ledger with a transaction that does not sum to zero is refused with a sentence, and left as it was", async () => {
    await post("txn_1", "service_fee", 6);
    own(LEDGER);
    await expect(applyMigrations(url, folder)).rejects.toThrow(/does not sum to zero \(txn_1\)/);
    expect(await entries()).toHaveLength(1);
  });
});
