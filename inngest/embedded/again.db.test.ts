import { describe, expect, test } from "vitest";
import type { OutgoingEvent } from "../client";
import { testClient } from "../test/client";
import { gate, soon, withWorld, world } from "../test/world";
import { enqueueAgain } from "./enqueue";

const inngest = testClient();
withWorld();

const one = (n: number, name = "a/one") => ({ name, data: { n } });
const again = (...events: OutgoingEvent[]) => enqueueAgain(world.pool, events);

/** The numbers of the events that are in the queue. */
async function queued(): Promise<number[]> {
  const { rows } = await world.pool.query(
    `select (payload->'event'->'data'->>'n')::int as n from graphile_worker._private_jobs
     where payload->'event' is not null order by n`,
  );
  return rows.map(({ n }) => n);
}

/** The queue writes off what it has handed on a moment after the runs have begun; until then it is in line. */
const handedOn = () => soon(queued).toEqual([]);

async function runsOf(n: number): Promise<string[]> {
  const { rows } = await world.pool.query(
    "select status from engine_run where event->'data'->>'n' = $1 order by created_at",
    [String(n)],
  );
  return rows.map(({ status }) => status);
}

describe("an event that is sent again", () => {
  test("is left out while it waits in the queue, whatever its id; others are taken", async () => {
    await world.send({ id: "one", ...one(1) });
    await again({ id: "two", ...one(1) }, one(2), one(2), one(1, "a/other"));
    await again(one(1), one(2));
    expect(await queued()).toEqual([1, 1, 2]);
  });

  test("is taken when its job has used up its attempts, or was lost", async () => {
    await world.send(one(1), one(2));
    await world.pool.query(
      "update graphile_worker._private_jobs set attempts = max_attempts where payload->'event'->'data'->>'n' = '1'",
    );
    await world.pool.query(
      "delete from graphile_worker._private_jobs where payload->'event'->'data'->>'n' = '2'",
    );
    await again(one(1), one(2));
    expect(await queued()).toEqual([1, 1, 2]);
  });

  test("is left out while its run stands in line, and taken once that has begun or ended", async () => {
    const hold = gate();
    const fn = inngest.createFunction(
      { id: "line", triggers: [{ event: "a/one" }], concurrency: 1 },
      async ({ event, step }) => {
        await step.run("begin", () => null);
        if (event.data.n === 1) await hold.passed;
      },
    );
    await world.start([fn]);
    await world.send(one(1));
    await world.inState("line", "running");
    await world.send(one(2));
    await world.inState("line", "queued");
    await handedOn();
    await again(one(2));
    await again(one(2), one(1)); // the first may have looked at what its event tells of before that changed
    await world.inState("line", "queued", 2);
    hold.open();
    await world.ended("line", 3);
    await handedOn();
    expect([await runsOf(1), await runsOf(2)]).toEqual([["completed", "completed"], ["completed"]]);
    await again(one(2));
    await world.ended("line", 4);
    expect(await runsOf(2)).toEqual(["completed", "completed"]);
  });

  test("is taken while its run rests after a failure, or waits for a timer", async () => {
    const fn = inngest.createFunction(
      { id: "resting", triggers: [{ event: "a/one" }], concurrency: 5 },
      async ({ event, step }) => {
        if (event.data.n === 1) throw new Error("not yet");
        await step.sleepUntil("nap", new Date(Date.now() + 3_600_000));
      },
    );
    await world.start([fn], { backoffMs: () => 3_600_000 });
    await world.send(one(1), one(2));
    await world.inState("resting", "waiting", 2);
    await handedOn();
    await again(one(1), one(2));
    await world.inState("resting", "waiting", 4);
  });

  test("is looked for by its own data, however many wait", async () => {
    await world.pool.query("analyze engine_run"); // empty
    await world.pool.query(
      `insert into engine_run (id, function_id, occurrence, event, status, queued_at, created_at)
       select n, 'test-many', n, jsonb_build_object('name', 'a/one', 'data', jsonb_build_object('n', n)), 'queued', now(), now()
       from generate_series(1, 3000) n`,
    );
    const client = await world.pool.connect();
    try {
      await client.query("begin");
      await enqueueAgain(
        client,
        Array.from({ length: 500 }, (_, n) => one(n + 1)),
      );
      const { rows } = await client.query(
        `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'engine_run'`,
      );
      await client.query("rollback");
      expect(rows[0].read).toBeLessThan(1_000);
    } finally {
      client.release();
    }
    await again(one(1), one(3000), one(3001));
    expect(await queued()).toEqual([3001]);
  });
});
