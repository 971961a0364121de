import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { log } from "@/server/platform/log/log";
import { createTestDatabase, type TestDatabase } from "../test/database";
import { migrateEngine } from "./migrate";

let database: TestDatabase;
let other: Client;
beforeAll(async () => {
  database = await createTestDatabase();
  other = new Client({ connectionString: database.url });
  await other.connect();
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await other.end();
  await database.close();
});

const LOCK = "select pg_advisory_lock(hashtext('capstan-engine-migrations'))";
const UNLOCK = "select pg_advisory_unlock_all()";

test("a process logs that it waits for another process's migration, and continues when that migration has ended", async () => {
  await other.query(LOCK);
  const warned = vi.spyOn(log, "warn").mockImplementation(() => void other.query(UNLOCK));
  await migrateEngine(database.url);
  expect(warned.mock.calls.map((args: unknown[]) => args.at(-1))).toEqual([
    "another process is preparing the engine's tables: waiting for it",
  ]);
  warned.mockClear();
  await migrateEngine(database.url);
  expect(warned).not.toHaveBeenCalled();
});

test("a process that waits too long fails with the cause and the remedy", async () => {
  vi.spyOn(log, "warn").mockReturnValue();
  await other.query(LOCK);
  const sentence =
    /^Another process has held .* for 0\.02 seconds\. Look for it in pg_stat_activity, .* start again\.$/;
  await expect(migrateEngine(database.url, 20)).rejects.toThrow(sentence);
  await other.query(UNLOCK);
  for (const table of ["graphile_worker.migrations"]) {
    await other.query(`begin; lock table ${table}`);
    await expect(migrateEngine(database.url, 20), table).rejects.toThrow(sentence);
    await other.query("rollback");
  }
});
