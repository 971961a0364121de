import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { testClient } from "../test/client";
import { gate, soon, withWorld, world } from "../test/world";

const inngest = testClient();
withWorld();

describe("workers", () => {
  test("a worker that stops hands its runs over after the step in flight", async () => {
    const ran: string[] = [];
    const [started, hold] = [gate(), gate()];
    const fn = inngest.createFunction({ id: "moved", triggers: [{ event: "m/one" }] }, async ({ step }) => {
      await step.run("first", async () => {
        ran.push("first");
        started.open();
        await hold.passed;
      });
      await step.run("second", () => {
        ran.push("second");
      });
    });
    const engine = await world.start([fn]);
    await world.send({ name: "m/one", data: {} });
    await started.passed;
    const stopped = engine.stop();
    hold.open();
    await stopped;
    expect(ran).toEqual(["first"]);
    await world.start([fn]);
    await world.ended("moved");
    expect(ran).toEqual(["first", "second"]);
  });

  test("a full worker leaves jobs to those that have room", async () => {
    const by: string[] = [];
    const [started, hold] = [gate(), gate()];
    const fn = (name: string) =>
      inngest.createFunction({ id: "full", triggers: [{ event: "u/one" }] }, async ({ event }) => {
        by.push(name);
        if (event.data.n > 0) return;
        started.open();
        await hold.passed;
      });
    await world.start([fn("full")], { concurrency: 1 });
    await world.send({ name: "u/one", data: { n: 0 } });
    await started.passed;
    await world.send(...[1, 2, 3].map((n) => ({ name: "u/one", data: { n } })));
    await world.start([fn("idle")]);
    await world.ended("full", 3);
    hold.open();
    await world.ended("full", 4);
    expect(by).toEqual(["full", "idle", "idle", "idle"]);
  });

  test("a worker that is given up loses its runs, and its late results are refused", async () => {
    const [started, hold] = [gate(), gate()];
    const results: string[] = [];
    let worker = 0;
    const fn = () => {
      const name = `worker ${++worker}`;
      return inngest.createFunction({ id: "lost", triggers: [{ event: "l/one" }] }, async ({ step }) => {
        const by = await step.run("work", async () => {
          started.open();
          if (name === "worker 1") await hold.passed;
          return name;
        });
        await step.run("end", () => {
          results.push(by);
        });
        return by;
      });
    };
    const stale = await world.start([fn()], { leaseMs: 3_600_000 }); // beats too rarely to be heard of again
    await world.send({ name: "l/one", data: {} });
    await started.passed;
    await world.pool.query("update engine_worker set beat_at = now() - interval '1 minute'");
    await world.start([fn()], { leaseMs: 400 });
    expect((await world.ended("lost"))[0]?.result).toBe("worker 2");
    hold.open();
    await stale.stop();
    expect(results).toEqual(["worker 2"]);
  });

  test("runs end although every database connection is cut now and then", async () => {
    const fn = inngest.createFunction(
      { id: "cut", triggers: [{ event: "k/one" }] },
      async ({ event, step }) => {
        for (let n = 0; n < 4; n++)
          await step.run(`step ${n}`, () => new Promise((resolve) => setImmediate(resolve)));
        await step.sleepUntil("nap", new Date(Date.now() + 5));
        return step.run("end", () => event.data.n);
      },
    );
    await world.start([fn], { leaseMs: 1_000 });
    await world.send(...Array.from({ length: 60 }, (_, n) => ({ name: "k/one", data: { n } })));
    for (const ended of [5, 20, 40]) {
      await world.ended("cut", ended);
      const cutter = new Client({ connectionString: world.url });
      await cutter.connect();
      await cutter.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      await cutter.end();
    }
    const runs = await world.ended("cut", 60);
    expect(runs.map((run) => run.result).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 60 }, (_, n) => n),
    );
  });

  const numbered = () =>
    inngest.createFunction({ id: "numbered", triggers: [{ event: "n/one" }] }, ({ event }) => event.data.n);

  /** Has the database do this before each such change, until the test ends; `n` is the number of the event. */
  async function interfere(
    change: "insert on engine_run" | "delete on graphile_worker._private_jobs",
    body: string,
  ) {
    const event = change === "insert on engine_run" ? "new.event" : "old.payload->'event'";
    await world.pool.query(`create sequence times;
      create function meanwhile() returns trigger language plpgsql as $$
        declare n int := ${event}->'data'->>'n'; begin ${body} return coalesce(new, old); end $$;
      create trigger meanwhile before ${change} for each row execute function meanwhile()`);
    onTestFinished(async () => {
      await world.pool.query("drop function meanwhile cascade; drop sequence times");
    });
  }

  test("an event that could not be taken three times is taken soon after", async () => {
    await interfere("insert on engine_run", "if nextval('times') <= 3 then raise exception 'cut'; end if;");
    await world.start([numbered()]);
    await world.send({ name: "n/one", data: { n: 1 } });
    expect(await world.ended("numbered")).toMatchObject([{ status: "completed", result: 1 }]);
  });

  test("an engine that could not report a job as done while others were being reported goes on taking jobs", async () => {
    await interfere(
      "delete on graphile_worker._private_jobs",
      `if n < 3 then perform pg_sleep(1); end if;
       if n = 3 and nextval('times') = 1 then raise exception 'cut'; end if;`,
    );
    const limited = inngest.createFunction(
      { id: "limited", triggers: [{ event: "n/limited" }], concurrency: 1 },
      () => "done",
    );
    const told: string[] = [];
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (_: object, message: string) => void told.push(message),
    };
    await world.start([numbered(), limited], { leaseMs: 1_000, log });
    // Until then one job is being taken, and the queue cannot stop.
    const locker = new Client({ connectionString: world.url });
    await locker.connect();
    onTestFinished(() => locker.end());
    await locker.query("begin; lock table engine_limit in exclusive mode");
    await world.send({ name: "n/limited", data: { n: 4 } });
    for (const n of [1, 2, 3]) {
      await world.send({ name: "n/one", data: { n } });
      await world.ended("numbered", n);
    }
    await soon(() => told.join()).toMatch(/Failed to complete jobs/);
    const left = async (): Promise<number[]> => {
      const { rows } = await world.pool.query(
        "select (payload->'event'->'data'->>'n')::int as n from graphile_worker._private_jobs",
      );
      return rows.map(({ n }) => n);
    };
    await soon(async () => (await left()).filter((n) => n < 3)).toEqual([]);
    await locker.query("commit");
    await world.ended("limited");
    await world.send({ name: "n/one", data: { n: 5 } });
    await world.ended("numbered", 4);
    await soon(left).toEqual([]);
  });

  test("an engine refuses to start over SQL functions of another version", async () => {
    await world.pool.query("comment on function engine_send(jsonb) is 'older'");
    await expect(world.start([])).rejects.toThrow(/migrateEngine/);
    const { SQL_VERSION } = await import("./sql");
    await world.pool.query(`comment on function engine_send(jsonb) is '${SQL_VERSION}'`);
  });
});
