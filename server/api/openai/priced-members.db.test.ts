import { afterAll, beforeAll, expect, test } from "vitest";
import * as budgets from "@/server/domain/budgets";
import * as connections from "@/server/domain/connections";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";

/* Members that change a price beyond any bound: passed where their server's owner lists them, and never below a limit that prevents. */

let vendor: Vendor;
let tenant: Tenant;
const before = { ...env };
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
  tenant = await makeTenant();
  vendor.answer({ json: { object: "list", data: [] } });
  await connections.createCredential(
    system,
    tenant.organizationId,
    {
      provider: "openai-compatible",
      secret: "sk-own-123456",
      label: "own",
      endpointUrl: vendor.url,
      models: "small:1:2",
      passThrough: ["top_k", "plugins", "best_of"],
    },
    { places: [{ projectId: tenant.projectId, environment: "development" }] },
  );
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

const ask = (more: object) => {
  vendor.answer({
    json: {
      choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
  });
  return tenant.post("/v1/chat/completions", {
    model: "openai-compatible/small",
    messages: [{ role: "user", content: "Hi" }],
    ...more,
  });
};

test("a listed member that has a price of its own is passed, but not where a limit prevents", async () => {
  const plugins = [{ id: "web" }];
  const free = await ask({ plugins });
  expect(free.status, free.text).toBe(200);
  expect(JSON.parse(vendor.arrived[0]!.body).plugins).toEqual(plugins);

  await budgets.set(system, {
    owner: { projectId: tenant.projectId },
    period: "day",
    ceilingMicros: 1_000_000_000,
    enforcement: "prevent",
  });
  for (const member of ["plugins", "best_of"]) {
    const { status, json } = await ask({ [member]: member === "plugins" ? plugins : 2 });
    expect([status, json.error.param]).toEqual([422, member]);
    expect(json.error.message).toContain("has no upper bound");
    expect(vendor.arrived).toEqual([]);
  }
  expect((await ask({ top_k: 5 })).status).toBe(200);
});
