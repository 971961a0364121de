import { afterEach, expect, test } from "vitest";
import { getCapability } from "@/server/domain/catalog";
import { pool } from "@/server/platform/db";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { fundedFor } from ".";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }], maxOutputTokens: 100 };

afterEach(() => {
  setSettings({ OPENAI_API_KEY: undefined });
});

type Purse = { wallet?: number; allowance?: number; used?: number };

/** Creates a tenant with these funds in its live and test wallets. */
async function makeFunded({ wallet = 0, allowance = 0, used = 0 }: Purse): Promise<Tenant> {
  const tenant = await makeTenant();
  await pool.query(
    "UPDATE wallet SET balance_micros = $2, allowance_micros = $3, allowance_used_micros = $4 WHERE organization_id = $1",
    [tenant.organizationId, wallet, allowance, used],
  );
  return tenant;
}

const quoted = async (tenant: Tenant, execution: object = {}) =>
  (await tenant.post(`/v1/capabilities/${TEXT}/quote`, { input, execution })).json.resolved;
const described = async (key: string | undefined) =>
  (await call("GET", `/v1/capabilities/${TEXT}`, key ? { key } : {})).json;

test.each([
  ["a balance", { wallet: 1_000_000 }, "openai"],
  ["an allowance that is not used up", { allowance: 500_000, used: 499_999 }, "openai"],
  ["neither", { allowance: 500_000, used: 500_000 }, "sandbox"],
  ["a debt", { wallet: -5 }, "sandbox"],
] as const)(
  "an organization with %s is routed to the operator's account or to the sandbox",
  async (_what, purse, provider) => {
    setSettings({ OPENAI_API_KEY: "a key" });
    const tenant = await makeFunded(purse);
    expect(await quoted(tenant)).toMatchObject({ provider, billingMode: "managed" });
  },
);

test("without funds, a request for managed work is priced but refused at admission with all funding options", async () => {
  setSettings({ OPENAI_API_KEY: "a key" });
  const tenant = await makeFunded({});
  const execution = { billingMode: "managed" };
  expect(await quoted(tenant, execution)).toMatchObject({ provider: "openai", billingMode: "managed" });
  for (const what of ["invoke", "jobs"]) {
    const { status, json } = await tenant.post(`/v1/capabilities/${TEXT}/${what}`, { input, execution });
    expect(status).toBe(402);
    const { detail, ...top } = json;
    expect(detail.code).toBe("funding_required");
    expect(detail.details).toMatchObject({
      reason: "allowance_used",
      fundingOptions: ["managed", "byok"],
      legacyCode: "billing_managed_usage_exhausted",
      remainingMicros: 0,
      isTest: false,
      upgradeUrl: expect.stringMatching(/\/billing$/),
    });
    expect(top).toMatchObject(detail);
  }
  const { rows } = await pool.query("SELECT count(*)::int AS count FROM job WHERE organization_id = $1", [
    tenant.organizationId,
  ]);
  expect(rows[0].count).toBe(0);
});

test.each([
  ["the allowance is used", { allowance: 500_000, used: 500_000 }, "allowance_used"],
  ["one execution may not take so much of the allowance", { allowance: 50_000_000 }, "trial_ceiling"],
  ["it is more than one execution may take, and than is left", { allowance: 260_000 }, "trial_ceiling"],
  ["the balance falls short", { wallet: 1 }, "wallet_too_low"],
] as const)("the refusal gives the reason: %s", async (_what, purse, reason) => {
  const tenant = await makeFunded(purse);
  setSettings({ OPENAI_API_KEY: "a key" });
  const dear = { input: { ...input, maxOutputTokens: 100_000 }, execution: { billingMode: "managed" } };
  const { json } = await tenant.post(`/v1/capabilities/${TEXT}/jobs`, dear);
  expect(json).toMatchObject({ code: "funding_required", details: { reason, isTest: false } });
});

test("funds are read only if they may change the route", async () => {
  const capability = getCapability(TEXT);
  const { organizationId } = await makeFunded({ wallet: 1 });
  const plain = { execution: { executionConstraints: { autoSelect: false } } } as Parameters<
    typeof fundedFor
  >[2];
  expect(await fundedFor(capability, organizationId, plain)).toBeUndefined(); // only the sandbox serves this
  setSettings({ OPENAI_API_KEY: "a key" });
  expect(await fundedFor(capability, organizationId, plain)).toBe(true);
  const named = { execution: { ...plain.execution, billingMode: "managed" as const } };
  expect(await fundedFor(capability, organizationId, named)).toBeUndefined();
  const math = getCapability("compute.evaluate.v1");
  expect(await fundedFor(math, organizationId, plain)).toBeUndefined();
});

test("a descriptor shows live funds if the operator has an account, and test funds otherwise", async () => {
  const tenant = await makeFunded({ allowance: 500_000, used: 100_000 });
  await pool.query("UPDATE wallet SET balance_micros = 7000 WHERE organization_id = $1 AND NOT is_test", [
    tenant.organizationId,
  ]);
  expect((await described(undefined)).funding).toEqual({
    mode: "managed",
    eligible: true,
    status: "catalog_available",
  });
  const sandbox = await described(tenant.key);
  expect(sandbox.execution.trialEligible).toBe(true);
  expect(sandbox.funding).toEqual({
    mode: "managed_trial",
    eligible: true,
    status: "ready",
    fundingOptions: ["managed", "byok"],
    remainingMicros: 400_000,
  });
  setSettings({ OPENAI_API_KEY: "a key" });
  expect((await described(tenant.key)).funding).toMatchObject({
    mode: "managed",
    status: "ready",
    remainingMicros: 407_000,
  });
  const poor = await makeFunded({ allowance: 500_000, used: 500_000 });
  expect((await described(poor.key)).funding).toMatchObject({
    mode: "managed",
    status: "funding_required",
    remainingMicros: 0,
  });
  // Work without a provider has nothing to pay.
  const math = await call("GET", "/v1/capabilities/compute.evaluate.v1", { key: tenant.key });
  expect(math.json.funding).toEqual({ mode: "managed", eligible: false, status: "catalog_available" });
});

test("descriptors and quotes reserve nothing of the allowance", async () => {
  const tenant = await makeFunded({ allowance: 500_000 });
  setSettings({ OPENAI_API_KEY: "a key" });
  for (const execution of [{}, { billingMode: "managed" }]) await quoted(tenant, execution);
  await described(tenant.key);
  const { rows } = await pool.query(
    "SELECT held_micros, allowance_used_micros, allowance_held_micros FROM wallet WHERE organization_id = $1",
    [tenant.organizationId],
  );
  expect(rows).toEqual(Array(2).fill({ held_micros: 0, allowance_used_micros: 0, allowance_held_micros: 0 }));
});
