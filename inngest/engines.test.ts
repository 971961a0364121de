import { InngestTestEngine, mockCtx } from "@inngest/test";
import { serve } from "inngest/next";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { inngest } from "./client";
import { effects } from "./test/functions/effects";
import fragile from "./test/functions/fragile";
import order from "./test/functions/order";
import price from "./test/functions/price";
import { type Handlers, type ProtocolClient, startProtocolClient } from "./test/protocol-client";
import { createWorld, type World } from "./test/world";

// The same files under the embedded engine, through the SDK's HTTP handler, and under @inngest/test.
const functions = [order, price, fragile];
const placed = (orderId: string) => ({ name: "sample/order.placed", data: { orderId, count: 3 } });
const outcome = {
  packed: "packed",
  labelled: "labelled",
  total: 750,
  carrier: "RangeError: too heavy",
  method: "card",
};
const done = ["cheap-carrier 0", "cheap-carrier 1", "cheap-carrier 2", "label", "pack", "price", "reserve"];

beforeEach(() => {
  effects.length = 0;
});

describe("on the embedded engine", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld("capstan");
  });
  afterAll(() => world?.close());

  test("a function with every kind of step runs to its end, each step once", async () => {
    await world.start(functions);
    await world.send(placed("o1"));
    await vi.waitFor(async () => {
      const { rows } = await world.pool.query(
        "select from engine_step where event_name = 'sample/order.paid' and status = 'pending'",
      );
      expect(rows).toHaveLength(1);
    });
    await world.send({ name: "sample/order.paid", data: { orderId: "o2", method: "cash" } });
    await world.send({ name: "sample/order.paid", data: { orderId: "o1", method: "card" } });
    expect(await world.ended("sample-order")).toMatchObject([{ status: "completed", result: outcome }]);
    expect(effects.toSorted()).toEqual(done);
  });

  test("a failing function's failure handler is told", async () => {
    await world.start(functions);
    await world.send({ name: "sample/order.priced", data: { orderId: "broken" } });
    await world.ended("sample-fragile-failure");
    expect(effects).toEqual(["break", "capstan-sample-fragile failed on broken: it broke"]);
  });
});

describe.each([{ checkpointing: false }, { checkpointing: true }])(
  "through the HTTP handler, driven by Inngest's protocol (checkpointing: $checkpointing)",
  ({ checkpointing }) => {
    const signingKey = "signkey-test-0123456789abcdef0123456789abcdef";
    let handlers: Handlers;
    let server: ProtocolClient;
    beforeAll(async () => {
      server = await startProtocolClient({ signingKey, checkpointing });
    });
    afterAll(() => server?.close());
    beforeEach(() => {
      vi.stubEnv("INNGEST_BASE_URL", server.url);
      vi.stubEnv("INNGEST_SIGNING_KEY", signingKey);
      vi.stubEnv("INNGEST_EVENT_KEY", "event-key");
      // As in a process that starts with this environment: the SDK keeps the address it registers at.
      handlers = serve({ client: inngest.setEnvVars(), functions }) as unknown as Handlers; // its own request type is wider than needed
    });
    afterEach(() => {
      vi.unstubAllEnvs();
    });

    test("introspection answers a signed request and nobody else", async () => {
      const signed = await server.call(handlers, "GET");
      expect(signed.status).toBe(200);
      expect(signed.body).toMatchObject({ mode: "cloud", function_count: 4, authentication_succeeded: true });
      expect((await server.call(handlers, "GET", { signed: false })).status).toBe(401);
    });

    test("registration tells the server every function, with its triggers and options", async () => {
      const registered = await server.register(handlers);
      expect(registered.map((config) => config.id).toSorted()).toEqual([
        "capstan-sample-fragile",
        "capstan-sample-fragile-failure",
        "capstan-sample-order",
        "capstan-sample-price",
      ]);
      expect(registered.find((config) => config.id === "capstan-sample-order")).toMatchObject({
        triggers: [{ event: "sample/order.placed" }],
        concurrency: { key: "event.data.orderId", limit: 3 },
        steps: { step: { retries: { attempts: 2 } } },
      });
      expect(server.registrations.at(-1)?.authorization).toBe(server.authorization);
      const inBand = await server.call(handlers, "PUT", {
        body: { url: "https://capstan.test/api/inngest" },
        headers: { "x-inngest-sync-kind": "in_band" },
      });
      expect(inBand.status).toBe(200);
      expect(inBand.body).toMatchObject({
        app_id: "capstan",
        functions: registered.map(({ id }) => ({ id })),
      });
    });

    test("a call that is not signed, or signed with another key, is refused", async () => {
      const request = {
        query: { fnId: "capstan-sample-order", stepId: "step" },
        body: { event: placed("x"), events: [], steps: {} },
      };
      expect((await server.call(handlers, "POST", { ...request, signed: false })).status).toBe(401);
      vi.stubEnv("INNGEST_SIGNING_KEY", "signkey-test-ffffffffffffffffffffffffffffffff");
      expect((await server.call(handlers, "POST", request)).status).toBe(401);
      expect(effects).toEqual([]);
    });

    test("a function with every kind of step runs to its end, each step once", async () => {
      await server.register(handlers);
      server.deliver({ name: "sample/order.paid", data: { orderId: "o2", method: "cash" } });
      server.deliver({ name: "sample/order.paid", data: { orderId: "o1", method: "card" } });
      const runs = await server.send(handlers, placed("o1"));
      expect(runs.map(({ functionId, status, output }) => ({ functionId, status, output }))).toEqual([
        { functionId: "capstan-sample-order", status: "completed", output: outcome },
        { functionId: "capstan-sample-price", status: "completed", output: 750 },
      ]);
      expect(effects.toSorted()).toEqual(done);
      expect(server.sent.at(-1)).toMatchObject({ name: "sample/order.priced", data: { orderId: "o1" } });
    });

    test("a failing function's failure handler is told", async () => {
      await server.register(handlers);
      const runs = await server.send(handlers, { name: "sample/order.priced", data: { orderId: "broken" } });
      expect(runs.map(({ functionId, status }) => `${functionId} ${status}`)).toEqual([
        "capstan-sample-fragile failed",
        "capstan-sample-fragile-failure completed",
      ]);
      expect(effects).toEqual(["break", "capstan-sample-fragile failed on broken: it broke"]);
    });
  },
);

describe("under @inngest/test", () => {
  test("a function runs with its waits answered by the test", async () => {
    const engine = new InngestTestEngine({
      function: order,
      events: [placed("o1")],
      steps: [
        { id: "cool-down", handler: () => null },
        { id: "price", handler: () => 750 },
        { id: "cheap-carrier", handler: () => outcome.carrier },
        { id: "announce", handler: () => ({ ids: ["1"] }) },
      ],
      // @inngest/test 1.0 cannot answer a wait for an event by a handler.
      transformCtx: (ctx) => {
        const mocked = mockCtx(ctx);
        const paid = { name: "sample/order.paid", data: { orderId: "o1", method: "card" } };
        Object.assign(mocked.step, { waitForEvent: async () => paid });
        return mocked;
      },
    });
    const { result } = await engine.execute();
    expect(result).toEqual(outcome);
    expect(effects.toSorted()).toEqual(["label", "pack", "reserve"]);
  });

  test("a step can be run alone", async () => {
    const engine = new InngestTestEngine({
      function: fragile,
      events: [{ name: "sample/order.priced", data: { orderId: "broken" } }],
    });
    const { error } = await engine.execute();
    expect(error).toMatchObject({ message: "it broke" });
    expect(effects).toContain("break");
  });
});
