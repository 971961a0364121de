import { invoke, NonRetriableError, RetryAfterError, staticSchema } from "inngest";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testClient } from "../test/client";
import { createWorld, gate, soon, type World } from "../test/world";

let world: World;
const inngest = testClient();

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.pool.query("truncate engine_run, engine_step, engine_limit, engine_seen, engine_worker");
  await world.pool.query("delete from graphile_worker._private_jobs");
});

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

describe("errors and retries", () => {
  test("a step is retried with attempts of its own; steps before it are not run again", async () => {
    const ran: string[] = [];
    const fn = inngest.createFunction(
      { id: "retry", triggers: [{ event: "r/one" }], retries: 2 },
      async ({ step, attempt }) => {
        await step.run("before", () => {
          ran.push(`before ${attempt}`);
        });
        await step.run("flaky", () => {
          ran.push(`flaky ${attempt}`);
          if (attempt < 2) throw new Error("not yet");
        });
        await step.run("after", () => {
          ran.push(`after ${attempt}`);
          if (attempt < 1) throw new Error("not yet");
        });
      },
    );
    await world.start([fn]);
    await world.send({ name: "r/one", data: {} });
    expect((await world.ended("retry"))[0]?.status).toBe("completed");
    expect(ran).toEqual(["before 0", "flaky 0", "flaky 1", "flaky 2", "after 0", "after 1"]);
  });

  test("when a step has used up its attempts its error can be caught", async () => {
    const fn = inngest.createFunction(
      { id: "caught", triggers: [{ event: "r/two" }], retries: 1 },
      async ({ step }) => {
        try {
          return await step.run("hopeless", () => {
            throw new RangeError("out of range");
          });
        } catch (error) {
          return await step.run("instead", () =>
            error instanceof Error ? `${error.name}: ${error.message}` : "?",
          );
        }
      },
    );
    await world.start([fn]);
    await world.send({ name: "r/two", data: {} });
    expect((await world.ended("caught"))[0]).toMatchObject({
      status: "completed",
      result: "RangeError: out of range",
    });
  });

  test("a function body that throws is retried over its stored steps, then fails", async () => {
    const ran: string[] = [];
    const fn = inngest.createFunction(
      { id: "body", triggers: [{ event: "r/three" }], retries: 2 },
      async ({ step, attempt }) => {
        await step.run("kept", () => {
          ran.push("kept");
        });
        ran.push(`body ${attempt}`);
        throw new Error("thrown by the body");
      },
    );
    await world.start([fn]);
    await world.send({ name: "r/three", data: {} });
    const [run] = await world.ended("body");
    expect(run).toMatchObject({ status: "failed", result: { message: "thrown by the body" } });
    expect(ran).toEqual(["kept", "body 0", "body 1", "body 2"]);
  });

  test("parallel steps fail and retry each for itself", async () => {
    const ran: string[] = [];
    const fn = inngest.createFunction(
      { id: "apart", triggers: [{ event: "r/four" }], retries: 2 },
      async ({ step, attempt }) => {
        const work = (name: string, failures: number) =>
          step.run(name, () => {
            ran.push(`${name} ${attempt}`);
            if (attempt < failures) throw new Error(name);
            return name;
          });
        return Promise.all([work("a", 0), work("b", 1), work("c", 2)]);
      },
    );
    await world.start([fn]);
    await world.send({ name: "r/four", data: {} });
    expect((await world.ended("apart"))[0]?.result).toEqual(["a", "b", "c"]);
    expect(ran.sort()).toEqual(["a 0", "b 0", "b 1", "c 0", "c 1", "c 2"]);
  });

  test("a NonRetriableError is not retried, in a step or in the body", async () => {
    let tries = 0;
    const fn = inngest.createFunction(
      { id: "never", triggers: [{ event: "r/five" }] },
      async ({ event, step }) => {
        const work = () => {
          tries++;
          throw new NonRetriableError("never again");
        };
        await (event.data.inStep ? step.run("work", work) : work());
      },
    );
    await world.start([fn]);
    await world.send({ name: "r/five", data: { inStep: true } }, { name: "r/five", data: { inStep: false } });
    const runs = await world.ended("never", 2);
    expect(runs.map((run) => run.status)).toEqual(["failed", "failed"]);
    expect(tries).toBe(2);
  });

  test("a RetryAfterError says when, instead of the backoff", async () => {
    const at = new Date("2100-01-01T00:00:00.000Z");
    const fn = inngest.createFunction(
      { id: "later", triggers: [{ event: "r/six" }] },
      async ({ event, step, attempt }) => {
        const work = () => {
          if (attempt === 0) throw new RetryAfterError("busy", at);
          return attempt;
        };
        return event.data.inStep ? step.run("work", work) : work();
      },
    );
    await world.start([fn]);
    await world.send({ name: "r/six", data: { inStep: true } }, { name: "r/six", data: { inStep: false } });
    await world.inState("later", "waiting", 2);
    const { rows } = await world.pool.query(
      "select wake_at as at from engine_step union all select retry_at from engine_run",
    );
    expect(rows.filter((row) => row.at).map((row) => row.at.toISOString())).toEqual([
      at.toISOString(),
      at.toISOString(),
    ]);
    await world.skipTime();
    expect((await world.ended("later", 2)).map((run) => run.result)).toEqual([1, 1]);
  });

  test("onFailure runs once with the error and the event that started the run, and the failure is an event", async () => {
    const told: unknown[] = [];
    const fn = inngest.createFunction(
      {
        id: "failing",
        triggers: [{ event: "f/one" }],
        retries: 0,
        onFailure: async ({ event, error, step }) => {
          await step.run("tell", () => {
            told.push([error.message, event.data.event.data, event.data.function_id]);
          });
        },
      },
      async () => {
        throw new Error("it failed");
      },
    );
    const watcher = inngest.createFunction(
      {
        id: "watcher",
        triggers: [{ event: "inngest/function.failed" }, { event: "inngest/function.finished" }],
      },
      async ({ event }) => {
        told.push(`${event.name} of ${event.data.function_id}`);
      },
    );
    await world.start([fn, watcher]);
    await world.send({ name: "f/one", data: { order: 1 } });
    await world.ended("failing-failure");
    await soon(() => told.filter((line) => typeof line === "string")).toEqual(
      expect.arrayContaining([
        "inngest/function.failed of test-failing",
        "inngest/function.finished of test-failing",
      ]),
    );
    expect(told.filter((line) => Array.isArray(line))).toEqual([["it failed", { order: 1 }, "test-failing"]]);
  });
});

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
