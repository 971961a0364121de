import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { campaign } from "@/testing/campaign";
import { PROGRAMS } from "@/testing/setup/programs";
import { createWorld, type World } from "../test/world";

const { RUNS, KILLS } = campaign.size({ small: { RUNS: 12, KILLS: 3 }, full: { RUNS: 40, KILLS: 8 } });

let world: World;
const workers = new Set<ChildProcess>();

beforeAll(async () => {
  world = await createWorld();
  await world.pool.query(
    "create table effect (id bigserial primary key, run text not null, step text not null, token text not null)",
  );
});
afterAll(async () => {
  for (const worker of workers) await kill(worker);
  await world?.close();
});

async function startWorker(): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [join(PROGRAMS, "kill-worker.mjs")], {
    env: { ...process.env, KILL_DATABASE_URL: world.url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  workers.add(worker);
  await once(worker.stdout!, "data"); // it says that it is ready
  return worker;
}

async function kill(worker: ChildProcess): Promise<void> {
  workers.delete(worker);
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const gone = once(worker, "exit");
  worker.kill("SIGKILL");
  await gone;
}

async function effects(): Promise<number> {
  return (await world.pool.query("select count(*)::int as count from effect")).rows[0].count;
}

test("a worker killed again and again finishes every run, and no step whose result was stored runs again", {
  timeout: 120_000,
}, async () => {
  await world.send(...Array.from({ length: RUNS }, (_, n) => ({ name: "crash/one", data: { line: n % 3 } })));
  const total = RUNS * 7; // first, left, right, flaky, last, the invoked child, and the run of the event sent
  for (let round = 1; round <= KILLS; round++) {
    const worker = await startWorker();
    const target = Math.floor((total / (KILLS + 1)) * round);
    await vi.waitFor(async () => expect(await effects()).toBeGreaterThanOrEqual(target), {
      timeout: 20_000,
      interval: 1,
    });
    await kill(worker);
  }
  await startWorker();
  await vi.waitFor(
    async () => {
      const { rows } = await world.pool.query(`
        select id, status from engine_run where ended_at is null
        union all select id::text, task_identifier from graphile_worker.jobs where attempts < max_attempts`);
      expect(rows).toEqual([]);
    },
    { timeout: 30_000, interval: 20 },
  );

  const { rows: ended } = await world.pool.query(
    "select function_id, status, count(*)::int as runs from engine_run group by 1, 2 order by 1",
  );
  expect(ended[0]).toEqual({ function_id: "test-crash", status: "completed", runs: RUNS });
  expect(ended[1]).toEqual({ function_id: "test-crash-child", status: "completed", runs: RUNS });
  expect(ended[2]).toMatchObject({ function_id: "test-crash-second", status: "completed" });
  // sendEvent is a step like any other: killed between its effect and its result, it sends again.
  expect(ended[2].runs).toBeGreaterThanOrEqual(RUNS);
  expect(ended[2].runs).toBeLessThanOrEqual(RUNS + KILLS * 18);

  // Had a step run after its result was stored, its last effect would not be the one that is stored.
  const { rows: wrong } = await world.pool.query(`
      select e.run, e.step, e.token, s.value from (select distinct on (run, step) * from effect order by run, step, id desc) e
      left join engine_step s on s.run_id = e.run and s.value = to_jsonb(e.token) and s.status = 'done' where s.id is null`);
  expect(wrong).toEqual([]);
  const { rows: results } = await world.pool.query(
    "select id, result from engine_run where function_id = 'test-crash'",
  );
  for (const { id, result } of results) {
    expect(Object.keys(result).sort()).toEqual(["first", "flaky", "last", "left", "right"]);
    const { rows } = await world.pool.query("select step, token from effect where run = $1 order by id", [
      id,
    ]);
    const last = Object.fromEntries(rows.map((row) => [row.step, row.token]));
    expect(result).toEqual(last);
  }
  // At least once: only what a kill caught in flight ran twice.
  const repeated =
    (await effects()) -
    (
      await world.pool.query(
        "select from engine_step where op = 'run' and value is not null and jsonb_typeof(value) = 'string'",
      )
    ).rowCount!;
  expect(repeated).toBeLessThanOrEqual(KILLS * 36);
  const { rows: places } = await world.pool.query(
    "select coalesce(sum(held), 0)::int as held from engine_limit",
  );
  expect(places[0].held).toBe(0);
});
