import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Pass } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { ulid } from "@/server/platform/ids";
import { HOUR_MS } from "@/server/platform/time/units";
import { PERIODIC_TASKS, runDueTasks, startPeriodicTasks } from "./periodic-tasks";

/** Waits for something that happens automatically. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

const makeDue = (name: string) =>
  pool.query("UPDATE periodic_task SET due_at = clock_timestamp() - interval '1 second' WHERE name = $1", [
    name,
  ]);

test("a due task runs once, in whichever process asks first", async () => {
  const name = `test-${ulid()}`;
  let passes = 0;
  const task = {
    name,
    everyMs: HOUR_MS,
    async pass() {
      passes++;
    },
  };
  const processes = await Promise.all(Array.from({ length: 8 }, () => startPeriodicTasks([task])));
  try {
    await until(() => passes === 1);
    await makeDue(name);
    await until(() => passes === 2);
    // Simulates a clock that was set back: `due_at` lies further ahead than the interval allows.
    await pool.query(
      "UPDATE periodic_task SET due_at = clock_timestamp() + interval '1 day' WHERE name = $1",
      [name],
    );
    await until(() => passes === 3);
    const { rows } = await pool.query(
      "SELECT due_at > clock_timestamp() AS waits FROM periodic_task WHERE name = $1",
      [name],
    );
    expect(rows).toEqual([{ waits: true }]);
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
  }
  expect(passes).toBe(3);
});

test("a failed pass leaves the task to the next pass and delays no other task", async () => {
  const [bad, good] = [`test-bad-${ulid()}`, `test-good-${ulid()}`];
  const done: string[] = [];
  const started = await startPeriodicTasks([
    {
      name: bad,
      everyMs: HOUR_MS,
      async pass() {
        done.push(bad);
        if (done.length === 1) throw new Error("the first pass fails");
      },
    },
  ]);
  const other = await startPeriodicTasks([
    {
      name: good,
      everyMs: HOUR_MS,
      async pass() {
        done.push(good);
      },
    },
  ]);
  try {
    await until(() => done.includes(bad) && done.includes(good));
    await makeDue(bad);
    await until(() => done.filter((name) => name === bad).length === 2);
  } finally {
    await Promise.all([started.stop(), other.stop()]);
  }
});

test("a task's row has its interval, last pass, lag and outcome", async () => {
  const name = `test-${ulid()}`;
  let fails = false;
  const task = {
    name,
    everyMs: HOUR_MS,
    async pass() {
      expect(await row()).toMatchObject({ outcome: "running", ended_at: null });
      if (fails) throw new Error("this pass fails");
    },
  };
  const row = async () => (await pool.query("SELECT * FROM periodic_task WHERE name = $1", [name])).rows[0];
  await runDueTasks([task]);
  expect(await row()).toMatchObject({ interval_ms: HOUR_MS, outcome: "succeeded" });
  await runDueTasks([task]); // not due
  fails = true;
  await makeDue(name);
  await runDueTasks([task]);
  const { outcome, lag_ms, started_at, ended_at } = await row();
  expect(outcome).toBe("failed");
  expect(lag_ms).toBeGreaterThanOrEqual(1_000);
  expect(ended_at.getTime()).toBeGreaterThanOrEqual(started_at.getTime());
});

test("a long task delays no other and never overlaps itself in a process", {
  tags: "long",
}, async () => {
  const [long, short] = [`test-long-${ulid()}`, `test-short-${ulid()}`];
  const counts = { long: 0, short: 0 };
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const started = await startPeriodicTasks([
    {
      name: long,
      everyMs: 500,
      pass: async () => {
        counts.long++;
        await held;
      },
    },
    { name: short, everyMs: 500, pass: async () => ++counts.short },
  ]);
  await until(() => counts.short === 3);
  expect(counts.long).toBe(1);
  end();
  await started.stop();
});

test("a task that each process runs for itself runs in all of them and has a row too", async () => {
  const name = `test-own-${ulid()}`;
  const counts = [0, 0];
  const processes = await Promise.all(
    counts.map((_, place) =>
      startPeriodicTasks([{ name, everyMs: HOUR_MS, isOwn: true, pass: async () => void counts[place]!++ }]),
    ),
  );
  await until(() => counts.every((count) => count > 0));
  await Promise.all(processes.map((each) => each.stop()));
  expect(counts).toEqual([1, 1]);
  const { rows } = await pool.query("SELECT outcome FROM periodic_task WHERE name = $1", [name]);
  expect(rows).toEqual([{ outcome: "succeeded" }]);
});

test("every task has a unique name", () => {
  expect(new Set(PERIODIC_TASKS.map(({ name }) => name)).size).toBe(PERIODIC_TASKS.length);
});

test("a pass is marked late if it began more than 5 s late, as are those within a lease after it", async () => {
  const name = `test-late-${ulid()}`;
  const passes: (boolean | undefined)[] = [];
  const task = {
    name,
    everyMs: HOUR_MS,
    pass: async (_ctx: unknown, pass?: Pass) => passes.push(pass?.isLate),
  };
  const overdue = (seconds: number) =>
    pool.query(
      "UPDATE periodic_task SET due_at = clock_timestamp() - $2 * interval '1 second' WHERE name = $1",
      [name, seconds],
    );
  await runDueTasks([task]);
  for (const seconds of [4, 6, 1]) {
    await overdue(seconds);
    await runDueTasks([task]);
  }
  await pool.query("UPDATE periodic_task SET late_at = late_at - interval '15 seconds' WHERE name = $1", [
    name,
  ]);
  await overdue(1);
  await runDueTasks([task]);
  expect(passes).toEqual([false, false, true, true, false]);
});
