import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { pool } from "@/server/db";
import { ulid } from "@/server/ids";
import { CHORES, startChores } from "./chores";

/** Waits for something that happens by itself. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

const makeDue = (name: string) =>
  pool.query("UPDATE chore SET due_at = clock_timestamp() - interval '1 second' WHERE name = $1", [name]);

test("what is due is done once, by whichever process asks first", async () => {
  const name = `test-${ulid()}`;
  let passes = 0;
  const chore = {
    name,
    everyMs: 3_600_000,
    async pass() {
      passes++;
    },
  };
  const processes = await Promise.all(Array.from({ length: 8 }, () => startChores([chore])));
  try {
    await until(() => passes === 1);
    await makeDue(name);
    await until(() => passes === 2);
    // A clock that was set back: due in a time that no pass can have asked for.
    await pool.query("UPDATE chore SET due_at = clock_timestamp() + interval '1 day' WHERE name = $1", [
      name,
    ]);
    await until(() => passes === 3);
    const { rows } = await pool.query(
      "SELECT due_at > clock_timestamp() AS waits FROM chore WHERE name = $1",
      [name],
    );
    expect(rows).toEqual([{ waits: true }]);
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
  }
  expect(passes).toBe(3);
});

test("a pass that fails leaves the chore to the next, and holds up no other", async () => {
  const [bad, good] = [`test-bad-${ulid()}`, `test-good-${ulid()}`];
  const done: string[] = [];
  const started = await startChores([
    {
      name: bad,
      everyMs: 3_600_000,
      async pass() {
        done.push(bad);
        if (done.length === 1) throw new Error("the first pass fails");
      },
    },
  ]);
  const other = await startChores([
    {
      name: good,
      everyMs: 3_600_000,
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

test("every chore has a name of its own", () => {
  expect(new Set(CHORES.map(({ name }) => name)).size).toBe(CHORES.length);
});
