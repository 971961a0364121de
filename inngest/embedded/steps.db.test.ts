import { invoke, staticSchema } from "inngest";
import { describe, expect, test } from "vitest";
import { testClient } from "../test/client";
import { gate, soon, withWorld, world } from "../test/world";

const inngest = testClient();
withWorld();

describe("steps", () => {
  test("steps run once each and in order, and their results are what JSON keeps", async () => {
    const ran: string[] = [];
    const fn = inngest.createFunction({ id: "steps", triggers: [{ event: "s/one" }] }, async ({ step }) => {
      const first = await step.run("first", () => {
        ran.push("first");
        return { at: new Date(0), gone: undefined };
      });
      const loop: number[] = [];
      for (let n = 0; n < 3; n++) {
        loop.push(
          await step.run("again", () => {
            ran.push(`again ${n}`);
            return n;
          }),
        );
      }
      await step.sleep("rest", "1h");
      return step.run("last", () => ({ first, loop }));
    });
    await world.start([fn]);
    await world.send({ name: "s/one", data: {} });
    await world.inState("steps", "waiting");
    await world.skipTime();
    const [run] = await world.ended("steps");
    expect(run?.result).toEqual({ first: { at: "1970-01-01T00:00:00.000Z" }, loop: [0, 1, 2] });
    expect(ran).toEqual(["first", "again 0", "again 1", "again 2"]);
  });

  test("sleeps wait as long as they say and survive a change of worker", async () => {
    const fn = inngest.createFunction({ id: "sleeper", triggers: [{ event: "z/one" }] }, async ({ step }) => {
      await step.sleep("for", 51 * 3_600_000);
      await step.sleepUntil("until", new Date("2100-01-01T00:00:00.500Z"));
      return "awake";
    });
    const engine = await world.start([fn]);
    await world.send({ name: "z/one", data: {} });
    await world.inState("sleeper", "waiting");
    const due = () =>
      world.pool.query("select wake_at, wake_at - now() as rest from engine_step where status = 'pending'");
    expect((await due()).rows[0].rest).toMatchObject({ days: 2, hours: 2, minutes: 59 });
    await engine.stop();
    await world.start([fn]);
    await world.skipTime();
    await soon(async () => (await due()).rows[0]?.wake_at.toISOString()).toBe("2100-01-01T00:00:00.500Z");
    await world.skipTime();
    expect((await world.ended("sleeper"))[0]?.result).toBe("awake");
  });

  test("a short sleep ends by itself", async () => {
    const fn = inngest.createFunction({ id: "nap", triggers: [{ event: "z/two" }] }, async ({ step }) => {
      await step.sleepUntil("nap", new Date(Date.now() + 40));
    });
    await world.start([fn]);
    await world.send({ name: "z/two", data: {} });
    await world.ended("nap");
  });

  test("step.sendEvent sends once and tells the ids", async () => {
    const got: unknown[] = [];
    const sender = inngest.createFunction(
      { id: "sender", triggers: [{ event: "e/one" }] },
      async ({ step }) => {
        const { ids } = await step.sendEvent("tell", [
          { name: "e/two", data: { n: 1 } },
          { name: "e/two", data: { n: 2 } },
        ]);
        return ids;
      },
    );
    const receiver = inngest.createFunction(
      { id: "receiver", triggers: [{ event: "e/two" }] },
      async ({ event }) => {
        got.push(event.id, event.data.n);
      },
    );
    await world.start([sender, receiver]);
    await world.send({ name: "e/one", data: {} });
    const [run] = await world.ended("sender");
    await world.ended("receiver", 2);
    const [first, second] = run!.result as string[];
    expect(got.sort()).toEqual([first, second, 1, 2].sort());
  });

  test("step.waitForEvent takes the first event that matches, or null after the timeout", async () => {
    const fn = inngest.createFunction({ id: "waiter", triggers: [{ event: "w/one" }] }, async ({ step }) => {
      const matched = await step.waitForEvent("match", {
        event: "w/paid",
        timeout: "1d",
        match: "data.order",
      });
      const tested = await step.waitForEvent("if", {
        event: "w/sent",
        timeout: "1d",
        if: "async.data.order == event.data.order && async.data.weight > 5",
      });
      const missed = await step.waitForEvent("never", { event: "w/never", timeout: "1d" });
      return [matched?.data, tested?.data, missed];
    });
    await world.start([fn]);
    await world.send({ name: "w/one", data: { order: 7 } });
    await world.inState("waiter", "waiting");
    await world.send({ name: "w/paid", data: { order: 8 } }, { name: "w/other", data: { order: 7 } });
    await world.send({ name: "w/paid", data: { order: 7, n: 1 } });
    await soon(pendingEvent).toBe("w/sent");
    await world.send(
      { name: "w/sent", data: { order: 7, weight: 5 } },
      { name: "w/sent", data: { order: 7, weight: 6 } },
    );
    await soon(pendingEvent).toBe("w/never");
    await world.skipTime();
    const [run] = await world.ended("waiter");
    expect(run?.result).toEqual([{ order: 7, n: 1 }, { order: 7, weight: 6 }, null]);

    async function pendingEvent() {
      const { rows } = await world.pool.query("select event_name from engine_step where status = 'pending'");
      return rows[0]?.event_name;
    }
  });

  test("step.invoke returns what the other function returned, throws what it threw, and gives up after its timeout", async () => {
    const attempts: number[] = [];
    const child = inngest.createFunction(
      {
        id: "child",
        triggers: [invoke(staticSchema<{ n?: number; bad?: boolean; never?: boolean }>())],
        retries: 1,
      },
      async ({ event, step, attempt }) => {
        if (event.data.never) await step.sleep("long", "1d");
        if (event.data.bad) {
          attempts.push(attempt);
          throw new TypeError("bad child");
        }
        return step.run("double", () => (event.data.n ?? 0) * 2);
      },
    );
    const parent = inngest.createFunction(
      { id: "parent", triggers: [{ event: "i/one" }] },
      async ({ step }) => {
        const call = (id: string, data: object, timeout?: string) =>
          step
            .invoke(id, { function: child, data, ...(timeout && { timeout }) })
            .catch((error) => `${error.name}: ${error.message}`);
        return [
          await call("good", { n: 21 }),
          await call("bad", { bad: true }),
          await call("never", { never: true }, "1h"),
        ];
      },
    );
    await world.start([parent, child]);
    await world.send({ name: "i/one", data: {} });
    const expire =
      "update engine_step set wake_at = now() where op = 'invoke' and status = 'pending' and wake_at > now()";
    await soon(async () => (await world.pool.query(expire)).rowCount).toBe(1);
    await world.pool.query("select engine_wake(id, now()) from engine_run where function_id = 'test-parent'");
    const [run] = await world.ended("parent");
    expect(run?.result).toEqual([
      42,
      expect.stringContaining("bad child"),
      expect.stringContaining("Timed out"),
    ]);
    expect(attempts).toEqual([0, 1]);
  });

  test("parallel steps are in flight together, and each result is kept", async () => {
    let inFlight = 0;
    const together = gate();
    const fn = inngest.createFunction(
      { id: "parallel", triggers: [{ event: "p/one" }] },
      async ({ step }) => {
        const work = (n: number) =>
          step.run(`work ${n}`, async () => {
            if (++inFlight === 3) together.open();
            await together.passed;
            return n;
          });
        const chain = work(3).then((n) => step.run("after 3", () => n + 100));
        return Promise.all([work(1), work(2), chain, step.sleep("rest", "1h")]);
      },
    );
    await world.start([fn]);
    await world.send({ name: "p/one", data: {} });
    await world.inState("parallel", "waiting");
    await world.skipTime();
    const [run] = await world.ended("parallel");
    expect(run?.result).toEqual([1, 2, 103, null]);
    expect(inFlight).toBe(3);
  });

  test("a result that Postgres cannot store fails the run and says so", async () => {
    const fn = inngest.createFunction({ id: "nul", triggers: [{ event: "n/one" }] }, async ({ step }) => {
      await step.run("nul", () => "a\u0000b");
    });
    await world.start([fn]);
    await world.send({ name: "n/one", data: {} });
    const [run] = await world.ended("nul");
    expect(run).toMatchObject({
      status: "failed",
      result: { message: expect.stringContaining("cannot be stored") },
    });
  });
});
