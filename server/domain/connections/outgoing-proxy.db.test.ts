import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createCredential } from "@/server/domain/connections";
import { startVendor } from "@/server/providers/testing/vendor";
import { makeTenant, type Tenant } from "@/testing/api";
import { startProxy } from "@/testing/connect-proxy";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";

/* Tests which addresses count as the operator's own. Names below .invalid are never resolved. */

let proxy: Awaited<ReturnType<typeof startProxy>>;
let tenant: Tenant;
beforeAll(async () => {
  proxy = await startProxy(() => {
    throw new Error("no tunnel is opened here");
  });
  tenant = await makeTenant();
});
afterAll(() => proxy.stop());
beforeEach(() => {
  proxy.answer(502);
  setSettings({ OUTGOING_PROXY: proxy.url, OPENAI_BASE_URL: "https://vendor.invalid/v1" });
});

const connect = (wanted: { provider: string; endpointUrl?: string; models?: string }) =>
  createCredential(
    system,
    tenant.organizationId,
    { secret: "sk-canary-7f6e", label: "default", ...wanted },
    { places: [{ projectId: tenant.projectId, environment: "development" }] },
  );

test("an account at the operator's address of a vendor is checked through the proxy, by a name that only it resolves", async () => {
  await expect(connect({ provider: "openai" })).rejects.toMatchObject({
    code: "ProviderUnavailable",
    message: expect.stringContaining("The outgoing proxy did not connect to the provider (502)."),
  });
  expect(proxy.authorities()).toEqual(["vendor.invalid:443"]);
});

test("a server that a caller names is not reached through the proxy unless OUTGOING_PROXY_RESOLVES is set", async () => {
  const own = {
    provider: "openai-compatible",
    endpointUrl: "https://own.invalid/v1",
    models: "llama:1:1",
  };
  await expect(connect(own)).rejects.toMatchObject({
    code: "ProviderUnavailable",
    message: expect.stringContaining("OUTGOING_PROXY_RESOLVES=1 is required."),
  });
  expect(proxy.asked).toEqual([]);
  setSettings({ OUTGOING_PROXY_RESOLVES: true });
  await expect(connect(own)).rejects.toMatchObject({ message: expect.stringContaining("(502)") });
  expect(proxy.authorities()).toEqual(["own.invalid:443"]);
});

test("a server without TLS is reached without the proxy", async () => {
  const server = await startVendor();
  try {
    server.answer({ json: { object: "list", data: [{ id: "llama", object: "model" }] } });
    setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
    await connect({ provider: "openai-compatible", endpointUrl: server.url, models: "llama:1:1" });
    expect(server.arrived.length).toBeGreaterThan(0);
    expect([...proxy.asked, ...proxy.others]).toEqual([]);
  } finally {
    await server.stop();
  }
});
