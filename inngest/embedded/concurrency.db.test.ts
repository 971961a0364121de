import { describe, expect, test } from "vitest";
import { testClient } from "../test/client";
import { gate, soon, withWorld, world } from "../test/world";

const inngest = testClient();
withWorld();

describe("concurrency", () => {
  test("runs under a limit start in order of arrival, whoever runs them", async () => {
    const order: number[] = [];
    const hold = gate();
    const fn = inngest.createFunction(
      { id: "line", triggers: [{ event: "c/zero" }], concurrency: 1 },
      async ({ event, step }) => {
        await step.run("work", async () => {
          order.push(event.data.n);
          await hold.passed;
        });
      },
    );
    await Promise.all([world.start([fn]), world.start([fn])]);
    for (let n = 0; n < 8; n++) {
      await world.send({ name: "c/zero", data: { n } });
      await soon(async () => (await world.pool.query("select from engine_run")).rowCount).toBe(n + 1);
    }
    hold.open();
    await world.ended("line", 8);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("a limit with a key holds per key and lets other keys pass", async () => {
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    const hold = gate();
    const fn = inngest.createFunction(
      { id: "limited", triggers: [{ event: "c/one" }], concurrency: { key: "event.data.who", limit: 2 } },
      async ({ event, step }) => {
        await step.run("work", async () => {
          const { who } = event.data;
          running.set(who, (running.get(who) ?? 0) + 1);
          most.set(who, Math.max(most.get(who) ?? 0, running.get(who)!));
          await hold.passed;
          running.set(who, running.get(who)! - 1);
        });
      },
    );
    await Promise.all([world.start([fn]), world.start([fn])]);
    for (let n = 0; n < 8; n++) await world.send({ name: "c/one", data: { who: "a" } });
    await world.inState("limited", "queued", 6);
    await world.send({ name: "c/one", data: { who: "b" } });
    await soon(() => running.get("b")).toBe(1);
    expect(running.get("a")).toBe(2);
    hold.open();
    await world.ended("limited", 9);
    expect(most.get("a")).toBe(2);
    await soon(heldPlaces).toBe(0);
  });

  test("a run that waits holds no place", async () => {
    const fn = inngest.createFunction(
      { id: "polite", triggers: [{ event: "c/two" }], concurrency: 1 },
      async ({ step }) => {
        await step.waitForEvent("wait", { event: "c/go", timeout: "1d" });
      },
    );
    await world.start([fn]);
    for (let n = 0; n < 3; n++) await world.send({ name: "c/two", data: {} });
    await world.inState("polite", "waiting", 3);
    await world.send({ name: "c/go", data: {} });
    await world.ended("polite", 3);
    await soon(heldPlaces).toBe(0);
  });

  test("two limits hold together, and steps in parallel count one by one", async () => {
    let inFlight = 0;
    let most = 0;
    const fn = inngest.createFunction(
      {
        id: "double",
        triggers: [{ event: "c/three" }],
        concurrency: [{ limit: 3 }, { key: "event.data.who", limit: 1 }],
      },
      async ({ step }) => {
        const work = (id: string) =>
          step.run(id, async () => {
            most = Math.max(most, ++inFlight);
            await new Promise((resolve) => setImmediate(resolve));
            inFlight--;
          });
        await Promise.all([work("one"), work("two")]);
      },
    );
    await world.start([fn]);
    const events = Array.from({ length: 24 }, (_, n) => ({ name: "c/three", data: { who: `w${n % 4}` } }));
    await world.send(...events);
    await world.ended("double", 24);
    expect(most).toBeLessThanOrEqual(3);
    await soon(heldPlaces).toBe(0);
  });

  async function heldPlaces() {
    const { rows } = await world.pool.query("select coalesce(sum(held), 0)::int as held from engine_limit");
    return rows[0].held;
  }
});

describe("cancelOn", () => {
  test("a matching event ends runs that wait or stand in line, and only those", async () => {
    const fn = inngest.createFunction(
      {
        id: "cancellable",
        triggers: [{ event: "x/start" }],
        concurrency: { key: "event.data.line", limit: 1 },
        cancelOn: [
          { event: "x/stop", match: "data.id" },
          { event: "x/stop-all", if: "async.data.reason == 'fire' && event.data.id > 1" },
        ],
      },
      async ({ event, step }) => {
        if (event.data.line) await new Promise<void>((resolve) => releases.push(resolve));
        await step.sleep("long", "1d");
      },
    );
    const releases: (() => void)[] = [];
    await world.start([fn]);
    await world.send(...[1, 2, 3].map((id) => ({ name: "x/start", data: { id } })));
    await world.inState("cancellable", "waiting", 3);
    await world.send({ name: "x/stop", data: { id: 2 } });
    await world.inState("cancellable", "cancelled", 1);
    await world.send(
      { name: "x/stop-all", data: { reason: "drill" } },
      { name: "x/stop-all", data: { reason: "fire" } },
    );
    await world.inState("cancellable", "cancelled", 2);
    await world.inState("cancellable", "waiting", 1);

    await world.send({ name: "x/start", data: { id: -1, line: "l" } });
    await world.inState("cancellable", "running", 1);
    await world.send({ name: "x/start", data: { id: -2, line: "l" } });
    await world.inState("cancellable", "queued", 1);
    await world.send({ name: "x/stop", data: { id: -2 } });
    await world.inState("cancellable", "cancelled", 3);
    for (const release of releases) release();
    await world.inState("cancellable", "waiting", 2);
  });

  test("a step in flight ends, its result is refused and nothing follows", async () => {
    const ran: string[] = [];
    const [started, hold] = [gate(), gate()];
    const fn = inngest.createFunction(
      { id: "interrupted", triggers: [{ event: "x/begin" }], cancelOn: [{ event: "x/end" }] },
      async ({ step }) => {
        await step.run("in flight", async () => {
          started.open();
          await hold.passed;
          ran.push("in flight");
        });
        await step.run("next", () => {
          ran.push("next");
        });
      },
    );
    const engine = await world.start([fn]);
    await world.send({ name: "x/begin", data: {} });
    await started.passed;
    await world.send({ name: "x/end", data: {} });
    await world.ended("interrupted");
    hold.open();
    await engine.stop();
    expect(ran).toEqual(["in flight"]);
    expect((await world.ended("interrupted"))[0]?.status).toBe("cancelled");
  });
});
