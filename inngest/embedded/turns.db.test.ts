import { expect, test } from "vitest";
import { HOUR_MS } from "@/server/platform/time/units";
import { bulk, gate, IDLE_COUNTS, mail, onBulk, onMail, soon, withWorld, world } from "../test/world";

withWorld();

/** A flow whose runs work until they are released; records their order and the most at once. */
function held() {
  const seen = { order: [] as string[], now: new Map<string, number>(), most: new Map<string, number>() };
  let waiting: (() => void)[] = [];
  let isOpen = false;
  const flow = onBulk(async (id, _, projectId) => {
    seen.order.push(id);
    seen.now.set(projectId, (seen.now.get(projectId) ?? 0) + 1);
    seen.most.set(projectId, Math.max(seen.most.get(projectId) ?? 0, seen.now.get(projectId)!));
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    seen.now.set(projectId, seen.now.get(projectId)! - 1);
  });
  return {
    flow,
    seen,
    /** Releases the runs at work, and by default all that follow. */
    open(isForAll = true) {
      isOpen = isForAll;
      for (const go of waiting.splice(0)) go();
      waiting = [];
    },
  };
}

test("a limit holds over all workers, for each key separately, and waiting runs are rows without jobs", {
  tags: "long",
}, async () => {
  const { flow, seen, open } = held();
  await Promise.all([world.start([flow]), world.start([flow])]);
  await world.send(...Array.from({ length: 200 }, (_, n) => bulk(1000 + n)));
  await soon(() => world.left()).toMatchObject({ slots: 4, waiting: 196, jobs: 4 });
  await soon(() => seen.now.get("p")).toBe(4);
  await world.send(bulk("other", "q"));
  await soon(() => seen.now.get("q")).toBe(1);
  expect(seen.order).toHaveLength(5); // before any other has given up its turn
  open();
  await world.idle();
  expect(seen.order).toHaveLength(201);
  expect([seen.most.get("p"), seen.most.get("q")]).toEqual([4, 1]);
});

test("turns go to the runs that have waited longest, whichever worker frees one", async () => {
  const { flow, seen, open } = held();
  await Promise.all([world.start([flow]), world.start([flow])]);
  const ids = Array.from({ length: 24 }, (_, n) => String(100 + n));
  for (const id of ids) await world.send(bulk(id));
  while (seen.order.length < ids.length) {
    const before = seen.order.length;
    await soon(() => seen.now.get("p")).toBe(Math.min(4, ids.length - before + (seen.now.get("p") ?? 0)));
    open(false);
    await soon(() => seen.order.length).toBe(Math.min(before + 4, ids.length));
  }
  open();
  await world.idle();
  // Each four start together, in any order among themselves.
  for (let n = 0; n < ids.length; n += 4)
    expect(seen.order.slice(n, n + 4).toSorted()).toEqual(ids.slice(n, n + 4));
});

test("a limit without a key covers all runs of the event", async () => {
  const hold = gate();
  let atWork = 0;
  await world.start([
    onMail(async () => {
      atWork++;
      await hold.passed;
    }),
  ]);
  await world.send(...Array.from({ length: 9 }, (_, n) => mail(n)));
  await soon(() => atWork).toBe(4);
  expect(await world.left()).toMatchObject({ slots: 4, waiting: 5 });
  hold.open();
  await world.idle();
  expect(atWork).toBe(9);
});

test("a run that sleeps holds no turn, and takes one before it continues", { tags: "long" }, async () => {
  const begun: string[] = [];
  const hold = gate();
  await world.start([
    onBulk(async (id, step) => {
      begun.push(id);
      if (begun.filter((each) => each === id).length > 1) return;
      if (Number(id) < 8) await step.sleep("long", HOUR_MS);
      else await hold.passed;
    }),
  ]);
  await world.send(...Array.from({ length: 8 }, (_, n) => bulk(n)));
  await soon(() => world.left()).toEqual({ ...IDLE_COUNTS, jobs: 8, later: 8 });
  await world.send(...[8, 9, 10, 11].map((n) => bulk(n)));
  await soon(() => begun.length).toBe(12);
  await world.skipTime();
  await soon(() => world.left()).toEqual({ slots: 4, waiting: 8, jobs: 4, later: 0 });
  expect(begun).toHaveLength(12);
  hold.open();
  await world.idle();
  expect(begun).toHaveLength(20);
});

test("a wake does not postpone a run that waits for its turn, nor does the end of a run that was given up", async () => {
  const { flow, open } = held();
  await world.start([flow]);
  await world.send(...[0, 1, 2, 3, 4].map((n) => bulk(n)));
  await soon(() => world.left()).toMatchObject({ slots: 4, waiting: 1 });
  await world.send(bulk(4));
  const wake = {
    key: "bulk/accepted:4",
    limit_key: "bulk/accepted:p",
    places: 4,
    task: "bulk/accepted",
    payload: {},
  };
  await world.pool.query("select capstan_end_turn($1, 3600000)", [JSON.stringify(wake)]);
  expect(await world.left()).toEqual({ slots: 4, waiting: 1, jobs: 4, later: 0 });
  open();
  await world.idle();
});

test("a turn whose job was lost is free again, and rows of a dead worker are removed", async () => {
  const { flow, seen, open } = held();
  open();
  await world.send(...Array.from({ length: 5 }, (_, n) => bulk(n)));
  await world.pool.query("delete from graphile_worker._private_jobs");
  await world.pool.query("select graphile_worker.add_job('bulk/accepted', '{}', max_attempts := 1)");
  await world.pool.query("update graphile_worker._private_jobs set attempts = 1");
  await world.pool.query("select capstan_tidy_turns('none', '{}')");
  expect(await world.left()).toEqual({ ...IDLE_COUNTS, slots: 1, jobs: 1 });
  await world.start([flow]);
  await world.idle();
  expect(seen.order).toEqual(["4"]);
  const { rowCount } = await world.pool.query("select from graphile_worker.jobs");
  expect(rowCount).toBe(0);
});

test("a run whose end was lost in a database crash runs again, and one at work is left alone", async () => {
  const { flow, seen, open } = held();
  open();
  await world.start([flow]);
  const lock = (ago: string) =>
    world.pool.query(
      `insert into graphile_worker._private_jobs (task_id, payload, key, max_attempts, attempts, locked_by, locked_at)
       select id, '{"data": {"bulkId": "1", "projectId": "p"}}', 'bulk/accepted:1', 32767, 1, 'this one', now() - $1::interval
       from graphile_worker._private_tasks where identifier = 'bulk/accepted'
       on conflict (key) do update set locked_at = excluded.locked_at returning id`,
      [ago],
    );
  const tidy = (atWork: string[]) => world.pool.query("select capstan_tidy_turns('this one', $1)", [atWork]);
  await lock("59 seconds"); // its end may be about to be reported
  await tidy([]);
  const { rows } = await lock("61 seconds");
  await tidy([rows[0].id]);
  expect(await world.left()).toMatchObject({ jobs: 1 });
  expect(seen.order).toEqual([]);
  await tidy([]);
  await soon(() => seen.order).toEqual(["1"]);
  await world.idle();
});

test("the run that has waited longest is found by an index, however many wait", async () => {
  await world.pool.query(
    `insert into run_slot (key, limit_key, places, task, payload, has_turn, again, since)
     select 'bulk/accepted:' || n, 'bulk/accepted:p', 4, 'bulk/accepted', '{"data": {}}', n <= 4, false, now()
     from generate_series(1, 20000) n`,
  );
  const client = await world.pool.connect();
  try {
    await client.query("begin");
    await client.query(
      `select capstan_end_turn(to_jsonb(slot), null) from run_slot slot where key = 'bulk/accepted:1'`,
    );
    const { rows } = await client.query(
      "select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'run_slot'",
    );
    await client.query("rollback");
    expect(rows[0].read).toBeLessThan(50);
  } finally {
    client.release();
  }
});
