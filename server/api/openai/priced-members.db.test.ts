import { beforeAll, expect, test } from "vitest";
import * as budgets from "@/server/domain/budgets";
import { system } from "@/testing/tenants";
import { serveOwn } from "./own-server.fixture";

/*
 * Members that can raise the price without a bound: forwarded if the server's owner lists them, and refused under a limit
 * that prevents overspending.
 */

const own = serveOwn();
beforeAll(async () => {
  await own.connect({ models: "small:1:2", passThrough: ["top_k", "plugins", "best_of"] });
});

const ask = (more: object) => {
  own.vendor.answer({
    json: {
      choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
  });
  return own.tenant.post("/v1/chat/completions", {
    model: "openai-compatible/small",
    messages: [{ role: "user", content: "Hi" }],
    ...more,
  });
};

test("a listed member with a price of its own is forwarded, but refused under a limit that prevents", async () => {
  const plugins = [{ id: "web" }];
  const free = await ask({ plugins });
  expect(free.status, free.text).toBe(200);
  expect(JSON.parse(own.vendor.arrived[0]!.body).plugins).toEqual(plugins);

  await budgets.set(system, {
    owner: { projectId: own.tenant.projectId },
    period: "day",
    ceilingMicros: 1_000_000_000,
    enforcement: "prevent",
  });
  for (const member of ["plugins", "best_of"]) {
    const { status, json } = await ask({ [member]: member === "plugins" ? plugins : 2 });
    expect([status, json.error.param]).toEqual([422, member]);
    expect(json.error.message).toContain("has no upper bound");
    expect(own.vendor.arrived).toEqual([]);
  }
  expect((await ask({ top_k: 5 })).status).toBe(200);
});
