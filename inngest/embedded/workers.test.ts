import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { testClient } from "../test/client";
import { gate, withWorld, world } from "../test/world";

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

  test("an engine refuses to start over SQL functions of another version", async () => {
    await world.pool.query("comment on function engine_send(jsonb) is 'older'");
    await expect(world.start([])).rejects.toThrow(/migrateEngine/);
    const { SQL_VERSION } = await import("./sql");
    await world.pool.query(`comment on function engine_send(jsonb) is '${SQL_VERSION}'`);
  });
});
