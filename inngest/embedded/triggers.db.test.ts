import { describe, expect, test } from "vitest";
import { testClient } from "../test/client";
import { soon, withWorld, world } from "../test/world";

const inngest = testClient();
withWorld();

describe("events and triggers", () => {
  test("an event starts every function that it triggers, once, and no other", async () => {
    const seen: string[] = [];
    const fn = (id: string, event: string) =>
      inngest.createFunction({ id, triggers: [{ event }] }, async ({ event, runId }) => {
        seen.push(`${id} ${event.name} ${event.data.n}`);
        return runId;
      });
    await world.start([
      fn("first", "user/created"),
      fn("second", "user/created"),
      fn("third", "user/deleted"),
    ]);
    await world.send({ name: "user/created", data: { n: 1 } });
    const [run] = await world.ended("first");
    await world.ended("second");
    expect(run).toMatchObject({ status: "completed", result: run?.id });
    expect(seen.sort()).toEqual(["first user/created 1", "second user/created 1"]);
  });

  test("a function may have several triggers, with conditions and wildcards", async () => {
    const names: string[] = [];
    const fn = inngest.createFunction(
      {
        id: "many",
        triggers: [
          { event: "a/one", if: "event.data.amount >= 10 && event.data.kind == 'x'" },
          { event: "b/*" },
        ],
      },
      async ({ event }) => {
        names.push(`${event.name} ${event.data.amount}`);
      },
    );
    await world.start([fn]);
    await world.send(
      { name: "a/one", data: { amount: 9, kind: "x" } },
      { name: "a/one", data: { amount: 10, kind: "y" } },
      { name: "a/one", data: { amount: 10, kind: "x" } },
      { name: "b/anything", data: { amount: 0 } },
    );
    await world.ended("many", 2);
    expect(names.sort()).toEqual(["a/one 10", "b/anything 0"]);
  });

  test("of events with the same id within 24 hours, one counts", async () => {
    const seen: unknown[] = [];
    const fn = inngest.createFunction({ id: "dedupe", triggers: [{ event: "d/one" }] }, async ({ event }) => {
      seen.push(event.id, event.data.n);
    });
    await world.start([fn]);
    const send = (n: number) => world.send({ id: "same", name: "d/one", data: { n } });
    await Promise.all([send(1), world.send({ id: "same", name: "d/one", data: { n: 1 } })]);
    await send(1);
    await world.ended("dedupe");
    await world.pool.query("update engine_seen set seen_at = now() - interval '25 hours'");
    await send(2);
    await world.ended("dedupe", 2);
    expect(seen).toEqual(["same", 1, "same", 2]);
  });

  test("function-level idempotency starts one run per key", async () => {
    const seen: unknown[] = [];
    const fn = inngest.createFunction(
      { id: "once", triggers: [{ event: "o/one" }], idempotency: 'event.data.user + "-" + event.data.cart' },
      async ({ event }) => {
        seen.push(event.data.cart);
      },
    );
    await world.start([fn]);
    for (const cart of [1, 1, 2, 1]) await world.send({ name: "o/one", data: { user: "u", cart } });
    await world.ended("once", 2);
    await world.send({ name: "o/one", data: { user: "u", cart: 3 } }); // everything before it has been received by then
    await world.ended("once", 3);
    expect(seen.sort()).toEqual([1, 2, 3]);
  });

  test("a cron tick fires once, whatever the number of workers, also when it was missed in a restart", async () => {
    const ticks: string[] = [];
    const fn = inngest.createFunction(
      { id: "tick", triggers: [{ cron: "* * * * *" }] },
      async ({ event }) => {
        ticks.push(`${event.name} ${JSON.stringify(event.data)} ${event.ts}`);
      },
    );
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    await world.pool.query(
      "insert into graphile_worker._private_known_crontabs values ('test-tick:* * * * *', to_timestamp($1), to_timestamp($1))",
      [(minute - 90_000) / 1000],
    );
    await Promise.all([world.start([fn]), world.start([fn])]);
    const tick = (at: number) => `inngest/scheduled.timer {"cron":"* * * * *"} ${at}`;
    await soon(() => ticks).toEqual(expect.arrayContaining([tick(minute - 60_000), tick(minute)]));
    expect(new Set(ticks).size).toBe(ticks.length);
    const { rows } = await world.pool.query("select count(*)::int as runs from engine_run");
    expect(rows[0].runs).toBe(ticks.length);
  });

  test("what the engine does not serve is refused when it starts", async () => {
    const make = (options: object) =>
      inngest.createFunction({ id: "odd", triggers: [{ event: "x/y" }], ...options }, async () => {});
    const refused = async (options: object, why: RegExp) =>
      expect(world.start([make(options)])).rejects.toThrow(why);
    await refused({ debounce: { period: "1s" } }, /"odd" uses debounce/);
    await refused({ throttle: { limit: 1, period: "1s" } }, /throttle/);
    await refused({ batchEvents: { maxSize: 2, timeout: "1s" } }, /batchEvents/);
    await refused(
      { concurrency: { limit: 1, scope: "account", key: '"x"' } },
      /concurrency of scope "account"/,
    );
    await refused({ triggers: [{ event: "x/y", if: "event.data.name.startsWith('a')" }] }, /startsWith/);
    await refused({ triggers: [{ cron: "TZ=Europe/Paris 0 12 * * *" }] }, /time zone/);
  });
});
