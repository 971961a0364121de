/** @module-tag long */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { applyMigrations } from "../../scripts/migrate/migrations";
import { createTestDatabase } from "../test/database";
import { onBulk, onMail, quiet, soon } from "../test/world";
import { startEngine } from "./engine";

/* A database of the engine that stored runs and steps itself is migrated to this engine without losing an event. */

test("events that no run had finished wake their flows after the migration, and the old engine's tables are gone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-hand-over-"));
  mkdirSync(join(folder, "0001_init"));
  cpSync("prisma/migrations/0001_init", join(folder, "0001_init"), { recursive: true });
  const database = await createTestDatabase(folder);
  const pool = new Pool({ connectionString: database.url, max: 6 });
  pool.on("error", () => {});
  onTestFinished(async () => {
    await pool.end();
    await database.close();
    rmSync(folder, { recursive: true });
  });
  const bulk = (id: string) => ({ name: "bulk/accepted", ts: 1, data: { bulkId: id, projectId: "p" } });
  const mail = (id: string) => ({ name: "mail/due", ts: 1, data: { mailId: id } });
  await pool.query("create function engine_take(r engine_run) returns boolean language sql as 'select true'");
  const run = (id: string, event: object, status: string, endedAt: string | null) =>
    pool.query(
      `insert into engine_run (id, function_id, occurrence, event, status, queued_at, created_at, ended_at)
       values ($1, 'capstan-x', $1, $2, $3, now(), now(), $4)`,
      [id, JSON.stringify(event), status, endedAt],
    );
  await run("r1", bulk("running"), "running", null);
  await run("r2", bulk("queued"), "queued", null);
  await run("r3", mail("waiting"), "waiting", null);
  await run("r4", mail("ended"), "completed", new Date().toISOString());
  await run("r5", { name: "inngest/scheduled.timer", data: { cron: "* * * * *" }, ts: 1 }, "running", null);
  await pool.query(
    "insert into engine_step (run_id, id, op, status, match_path) values ('r1', 's', 'run', 'done', '{}')",
  );
  for (const event of [mail("sent"), mail("waiting"), ...Array.from({ length: 6 }, (_, n) => bulk(`b${n}`))])
    await pool.query("select graphile_worker.add_job('engine/event', $1)", [
      JSON.stringify({ occurrence: "o", event }),
    ]);
  await pool.query("select graphile_worker.add_job('engine/run', '{\"run\": \"r1\"}')");
  await pool.query(
    "update graphile_worker._private_jobs set locked_by = 'a dead worker', locked_at = now() where id = 1",
  );

  expect(await applyMigrations(database.url)).toContain("20261124210149_run_slots");
  const { rows: turns } = await pool.query(
    "select limit_key, has_turn, count(*)::int from run_slot group by 1, 2 order by 1, 2",
  );
  expect(turns).toEqual([
    { limit_key: "bulk/accepted:p", has_turn: false, count: 4 },
    { limit_key: "bulk/accepted:p", has_turn: true, count: 4 },
    { limit_key: "mail/due", has_turn: true, count: 2 },
  ]);
  const ran: string[] = [];
  const flows = [onBulk(async (id) => void ran.push(id)), onMail(async (id) => void ran.push(id))];
  const engine = await startEngine({ flows, pool, log: quiet });
  onTestFinished(() => engine.stop());
  await soon(() => ran.toSorted()).toEqual(
    ["b0", "b1", "b2", "b3", "b4", "b5", "queued", "running", "sent", "waiting"].toSorted(),
  );
  await soon(async () => (await pool.query("select from graphile_worker.jobs")).rowCount).toBe(0);
  const { rows: old } = await pool.query(
    `select relname as name from pg_class where relname ~ '^engine_(run|step|limit|seen)' or relname = 'chore'
     union all select proname from pg_proc where proname like 'engine\\_%'`,
  );
  expect(old).toEqual([]);
});
