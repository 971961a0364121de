import { NonRetriableError, RetryAfterError } from "inngest";
import { describe, expect, test } from "vitest";
import { testClient } from "../test/client";
import { soon, withWorld, world } from "../test/world";

const inngest = testClient();
withWorld();

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
