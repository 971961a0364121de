/** @module-tag long */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { PROGRAMS } from "@/testing/setup/programs";
import { createWorld, mail, soon, type World } from "../test/world";

const { RUNS, KILLS } = campaign.size({ small: { RUNS: 40, KILLS: 2 }, full: { RUNS: 300, KILLS: 12 } });
/** The limit of concurrent runs under `mailDue`, and the number of runs that one worker takes at once. */
const [PLACES, TAKEN] = [4, 10];

let world: World;
const workers = new Set<ChildProcess>();

beforeAll(async () => {
  world = await createWorld();
  await world.pool.query(`
    create table effect (run text, step text, times int, primary key (run, step));
    create table seen_at_work (count int)`);
});
afterAll(async () => {
  for (const worker of workers) await kill(worker);
  await world?.close();
});

async function startWorker(): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [join(PROGRAMS, "kill-worker.mjs")], {
    env: { ...process.env, DATABASE_URL: world.url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  workers.add(worker);
  await once(worker.stdout!, "data"); // the worker prints a line when it is ready
  return worker;
}

async function kill(worker: ChildProcess): Promise<void> {
  workers.delete(worker);
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const gone = once(worker, "exit");
  worker.kill("SIGKILL");
  await gone;
}

const ended = async () =>
  (await world.pool.query("select count(*)::int as count from effect where step = 'end'")).rows[0].count;

test("every run ends, no limit is exceeded and nothing is left when workers are killed at random under a full limit", {
  timeout: 120_000,
}, async () => {
  await world.send(...Array.from({ length: RUNS }, (_, n) => mail(n)));
  let steady = await startWorker();
  for (let round = 1; round <= KILLS; round++) {
    const other = await startWorker();
    const target = Math.floor((RUNS / (KILLS + 1)) * round);
    await soon(ended).toBeGreaterThanOrEqual(target);
    await kill(round % 2 ? other : steady);
    if (round % 2 === 0) steady = other;
    for (let n = 0; n < RUNS; n += 10) await world.send(mail(n)); // sent again while the runs are at any stage
  }
  await soon(ended).toBe(RUNS);
  await world.idle();
  const { rows: left } = await world.pool.query(
    "select from graphile_worker.jobs where locked_at is null and attempts < max_attempts",
  );
  expect(left).toEqual([]);

  const { rows: most } = await world.pool.query("select max(count)::int as most from seen_at_work");
  expect(most[0].most).toBeLessThanOrEqual(PLACES);
  // Steps run at least once: a step runs again after a retry, a sleep or a repeated wake, and after each kill that hit its
  // run.
  const { rows } = await world.pool.query(
    "select max(times)::int as most, sum(times)::int as total from effect where step = 'first'",
  );
  expect(rows[0].total).toBeLessThanOrEqual(RUNS * 1.5 + KILLS * (TAKEN + RUNS / 10) * 2);
});
