import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { HOUR_MS } from "@/server/platform/time/units";
import { bulk, gate, mail, onBulk, onMail, quiet, soon, withWorld, world } from "../test/world";

withWorld();

test("a worker that stops hands over its runs after the step in flight", async () => {
  const ran: string[] = [];
  const [started, hold] = [gate(), gate()];
  const flow = onBulk(async (_, step) => {
    const isFirst = ran.length === 0;
    await step.run("first", async () => {
      ran.push("first");
      if (isFirst) started.open();
      if (isFirst) await hold.passed;
      return null;
    });
    await step.run("second", async () => ran.push("second"));
  });
  const engine = await world.start([flow]);
  await world.send(bulk(1));
  await started.passed;
  const stopped = engine.stop();
  hold.open();
  await stopped;
  expect(ran).toEqual(["first"]);
  expect(await world.left()).toMatchObject({ slots: 0, jobs: 1, later: 0 });
  await world.start([flow]);
  await world.idle();
  expect(ran).toEqual(["first", "first", "second"]);
});

test("a worker that stops leaves an unfinished step to another worker", async () => {
  const by: string[] = [];
  const [started, hold] = [gate(), gate()];
  const flow = (name: string) =>
    onBulk(async () => {
      by.push(name);
      started.open();
      if (name === "stuck") await hold.passed;
    });
  const engine = await world.start([flow("stuck")], { stopMs: 100 });
  await world.send(bulk(1));
  await started.passed;
  const stopped = engine.stop();
  await world.start([flow("next")]);
  await soon(() => by).toEqual(["stuck", "next"]);
  hold.open();
  await stopped;
  await world.idle();
});

test("a full worker leaves jobs to workers with room", async () => {
  const by: string[] = [];
  const [started, hold] = [gate(), gate()];
  const flow = (name: string) =>
    onBulk(async (id) => {
      by.push(name);
      if (id !== "0") return;
      started.open();
      await hold.passed;
    });
  await world.start([flow("full")], { concurrency: 1 });
  await world.send(bulk(0));
  await started.passed;
  await world.send(...[1, 2, 3].map((n) => bulk(n)));
  await world.start([flow("idle")]);
  await soon(() => by).toEqual(["full", "idle", "idle", "idle"]);
  hold.open();
  await world.idle();
});

test("a silent worker loses its runs and their turns, and the late end of its runs changes nothing", async () => {
  const [started, hold] = [gate(), gate()];
  const by: string[] = [];
  const flow = (name: string) =>
    onMail(async (id) => {
      by.push(`${name} ${id}`);
      if (name === "silent" && by.length === 4) started.open();
      if (name === "silent") await hold.passed;
    });
  // A worker that does not beat again during the test, so that it counts as silent, and that is full.
  const silent = await world.start([flow("silent")], { leaseMs: HOUR_MS, concurrency: 4 });
  await world.send(...[0, 1, 2, 3].map(mail));
  await started.passed;
  await world.send(...[4, 5].map(mail));
  expect(await world.left()).toMatchObject({ slots: 4, waiting: 2 });
  await world.pool.query("update engine_worker set beat_at = now() - interval '1 minute'");
  await world.start([flow("next")], { leaseMs: 400 });
  await world.idle();
  const order = by.filter((each) => each.startsWith("next"));
  expect(order.toSorted()).toEqual([0, 1, 2, 3, 4, 5].map((n) => `next ${n}`));
  hold.open();
  await silent.stop();
  expect(by).toHaveLength(10);
  await world.idle();
});

test("runs end even if database connections are cut now and then", { tags: "long" }, async () => {
  const ended = new Set<string>();
  const slept = new Set<string>();
  const flow = onBulk(async (id, step) => {
    for (let n = 0; n < 4; n++)
      await step.run(`step ${n}`, () => new Promise<null>((resolve) => setImmediate(resolve, null)));
    if (!slept.has(id)) {
      slept.add(id);
      await step.sleep("nap", 300);
    }
    await step.run("end", async () => ended.add(id).size);
  });
  await world.start([flow], { leaseMs: 1_000 });
  await world.send(...Array.from({ length: 60 }, (_, n) => bulk(n, `p${n % 6}`)));
  for (const count of [5, 20, 40]) {
    await soon(() => ended.size).toBeGreaterThanOrEqual(count);
    const cutter = new Client({ connectionString: world.url });
    await cutter.connect();
    await cutter.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()",
    );
    await cutter.end();
  }
  await soon(() => ended.size).toBe(60);
  await soon(() => world.left().catch(() => null)).toMatchObject({ slots: 0, waiting: 0 });
});

/** Makes the database run this before jobs are deleted, until the test ends; `n` is the mail's number. */
async function interfere(body: string) {
  await world.pool.query(`create sequence times;
    create function meanwhile() returns trigger language plpgsql as $$
      declare n int := old.payload->'data'->>'mailId'; begin ${body} return old; end $$;
    create trigger meanwhile before delete on graphile_worker._private_jobs for each row execute function meanwhile()`);
  onTestFinished(async () => {
    await world.pool.query("drop function meanwhile cascade; drop sequence times");
  });
}

test("an engine that could not report a job as done, while it reported others, continues to take jobs", {
  tags: "long",
}, async () => {
  await interfere(
    `if n < 3 then perform pg_sleep(1); end if;
     if n = 3 and nextval('times') = 1 then raise exception 'cut'; end if;`,
  );
  const ran: string[] = [];
  const errors: string[] = [];
  const log = { ...quiet, error: (_: object, message: string) => void errors.push(message) };
  const hold = gate();
  await world.start(
    [
      onMail(async (id) => void ran.push(id)),
      onBulk(async () => hold.passed), // until then one job is at work, and the queue cannot stop
    ],
    { leaseMs: 1_000, log },
  );
  await world.send(bulk("held"));
  await soon(() => world.left()).toMatchObject({ slots: 1 });
  for (const n of [1, 2, 3]) {
    await world.send(mail(n));
    await soon(() => ran).toContain(String(n));
  }
  await soon(() => errors.join()).toMatch(/Failed to complete jobs/);
  await soon(() => errors.join()).toMatch(/started again/);
  hold.open();
  await world.send(mail(5));
  await soon(() => ran).toContain("5");
  await world.idle();
});
