import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import * as credentials from "@/server/domain/connections";
import { createKey } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { startVendor } from "@/server/providers/testing/vendor";
import { call, finish, makeKey, makeTenant, sessionHeaders } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { MODELS } from "@/testing/vault";
import {
  ANSWER,
  at,
  closeVendor,
  connect,
  input,
  openVendor,
  quoted,
  receiptOf,
  sent,
  submit,
  TEXT,
  vendor,
} from "./connections.fixture";

beforeAll(openVendor);
afterAll(() => closeVendor());
afterEach(() => {
  setSettings({ OPENAI_API_KEY: undefined });
  vi.restoreAllMocks();
});

test("a project's own account precedes the operator's, and that the sandbox; billingMode and names override it", {
  tags: "long",
}, async () => {
  const tenant = await makeTenant();
  const sandbox = { provider: "sandbox", billingMode: "managed" };
  expect((await quoted(tenant)).resolved).toMatchObject(sandbox);
  setSettings({ OPENAI_API_KEY: "the operator's" });
  expect((await quoted(tenant)).resolved).toMatchObject({ provider: "openai", billingMode: "managed" });
  const { credentialId } = await connect(tenant);
  const own = await quoted(tenant);
  expect(own.resolved).toMatchObject({ provider: "openai", billingMode: "byok" });
  // The price is the list price, without a fee of ours.
  expect(own.pricing.quote.serviceFee.amountMicros).toBe(0);
  expect(own.pricing.quote.customerTotal).toEqual(own.pricing.quote.chargeBasis);
  const managed = await quoted(tenant, { billingMode: "managed" });
  expect(managed.resolved).toMatchObject({ provider: "openai", billingMode: "managed" });
  expect(managed.pricing.quote.serviceFee.amountMicros).toBeGreaterThan(0);
  expect((await quoted(tenant, { credentialSource: "customer" })).resolved.billingMode).toBe("byok");
  const named = { executionConstraints: { preferredModel: "sandbox-1" } };
  expect((await quoted(tenant, named)).resolved.provider).toBe("sandbox");
  await credentials.deleteCredential(system, tenant.organizationId, credentialId);
  setSettings({ OPENAI_API_KEY: undefined });
  expect((await quoted(tenant)).resolved).toMatchObject(sandbox);
});

test("a connection serves the environment it is bound to, and no other", async () => {
  const tenant = await makeTenant();
  await pool.query(
    "INSERT INTO environment (id, project_id, slug, display_name) VALUES ($1, $2, 'staging', 'Staging')",
    [newId("environment"), tenant.projectId],
  );
  await connect(tenant, {}, { projectId: tenant.projectId, environment: "staging" });
  expect((await quoted(tenant)).resolved.provider).toBe("sandbox");
  const { apiKey } = await createKey(system, {
    name: "staging",
    projectId: tenant.projectId,
    environment: "staging",
  });
  expect((await quoted(tenant, {}, apiKey)).resolved).toMatchObject({
    provider: "openai",
    billingMode: "byok",
  });
});

test("two projects run on their own accounts: each secret is sent for its own work, and the customer pays the provider", async () => {
  const [one, other] = [await makeTenant(), await makeTenant()];
  const secrets = [await connect(one), await connect(other)].map(({ secret }) => secret);
  vendor.answer(ANSWER);
  const before = await pool.query("SELECT balance_micros FROM wallet WHERE organization_id = $1", [
    one.organizationId,
  ]);
  const ran = await Promise.all(
    [one, other].map(async (tenant) => ({ tenant, job: await finish(await submit(tenant)) })),
  );
  expect(ran.map(({ job }) => job.status)).toEqual(["succeeded", "succeeded"]);
  expect(
    sent()
      .map(({ headers }) => headers.authorization)
      .sort(),
  ).toEqual(secrets.map((secret) => `Bearer ${secret}`).sort());
  const receipt = await receiptOf(one, ran[0]?.job.jobId ?? "");
  expect(receipt).toMatchObject({
    pricing: {
      mode: "byok",
      serviceInferenceFeeMicros: 0,
      fundingSource: "customer",
      chargeState: "byok",
      charge: { customerCharge: { amountMicros: 0 }, customerDebit: { amountMicros: 0 } },
      providerUsage: { costBearer: "customer" },
    },
    routing: { routingPolicy: "automatic", selectionReason: "first_eligible" },
    targetRouting: { policyVersion: "routing_2026_11_3" },
  });
  expect(receipt.routing.selectedPlanId).toMatch(/^openai\//);
  expect(receipt.routing.eligiblePlanIds[0]).toBe(receipt.routing.selectedPlanId);
  expect(receipt.routing.eligiblePlanIds).toContain("sandbox/sandbox-1");
  const after = await pool.query("SELECT balance_micros FROM wallet WHERE organization_id = $1", [
    one.organizationId,
  ]);
  expect(after.rows).toEqual(before.rows);
});

test("an invoke runs on the project's own account, with its secret", async () => {
  const tenant = await makeTenant();
  const { secret } = await connect(tenant);
  vendor.answer(ANSWER);
  const { status, json } = await tenant.post(at("invoke"), { input });
  expect([status, json.resolvedProvider]).toEqual([200, "openai"]);
  expect(sent()[0]?.headers.authorization).toBe(`Bearer ${secret}`);
});

test("a quote that needs an account has the URL of the missing provider's form", async () => {
  const tenant = await makeTenant();
  const { detail } = await quoted(tenant, { executionConstraints: { providerPin: "openai" } });
  expect(detail).toMatchObject({ code: "CONNECTION_REQUIRED", details: { provider: "openai" } });
  const url = new URL(detail.details.connectUrl);
  expect(url.pathname).toBe(`/projects/${tenant.projectId}/connections`);
  expect(Object.fromEntries(url.searchParams)).toEqual({ environment: "development", provider: "openai" });
});

test("each viewer gets the targets and the access decision of their own project", async () => {
  const [tenant, stranger] = [await makeTenant(), await makeTenant()];
  const models = "llama-of-mine:1:1";
  const server = await startVendor();
  onTestFinished(() => server.stop());
  server.answer(MODELS);
  await connect(tenant, { provider: "openai-compatible", endpointUrl: server.url, models });
  const targets = async (key?: string) =>
    (await call("GET", `/v1/capabilities/${TEXT}/execution-targets`, key ? { key } : {})).json;
  const [mine, theirs, anybodys] = [await targets(tenant.key), await targets(stranger.key), await targets()];
  const own = "openai-compatible/llama-of-mine";
  expect(mine.default.target).toBe(own);
  expect(mine.targets.find(({ target }: { target: string }) => target === own).availability).toEqual({
    available: true,
    billingModes: ["byok"],
    reason: null,
  });
  expect([theirs.default.target, anybodys.default.target]).toEqual([
    "sandbox/sandbox-1",
    "sandbox/sandbox-1",
  ]);
  expect(JSON.stringify([theirs, anybodys])).not.toContain("llama-of-mine");
  const openai = ({ provider }: { provider: string }) => provider === "openai";
  expect(mine.targets.find(openai).availability.reason).toBe("connection_required");
  await connect(tenant);
  expect((await targets(tenant.key)).targets.find(openai).availability.available).toBe(true);

  const named = (projectId: string, owner: object) =>
    call("GET", `/v1/capabilities/${TEXT}/execution-targets?projectId=${projectId}`, {
      headers: { ...owner },
    });
  const owner = await sessionHeaders(tenant.organizationId, "owner");
  expect((await named(tenant.projectId, owner)).json.default.target).toBe(own);
  expect((await named(stranger.projectId, owner)).status).toBe(403);
  const refused = (projectId: string) => named(projectId, owner).then(({ json }) => json.detail);
  expect(await refused(newId("project"))).toEqual(await refused(stranger.projectId));

  const decided = async (key: string | undefined) => {
    const body = { intent: "Summarise this e-mail in two sentences", requirements: {} };
    const { json } = await call("POST", "/v1/capabilities/resolve", { ...(key ? { key } : {}), body });
    return json.matches.find(({ capabilityKey }: { capabilityKey: string }) => capabilityKey === TEXT)
      ?.accessDecision;
  };
  expect(await decided(undefined)).toBeNull();
  expect(await decided(tenant.key)).toMatchObject({
    allowed: true,
    runnable: true,
    availableBillingModes: ["byok", "managed"],
    availableCredentialSources: ["customer", "platform"],
    availableFundingSources: ["customer", "sandbox"],
    requiredAction: null,
  });
  await pool.query("UPDATE wallet SET balance_micros = 0 WHERE organization_id = $1", [
    stranger.organizationId,
  ]);
  await pool.query("UPDATE project SET approval_threshold_micros = 7 WHERE id = $1", [stranger.projectId]);
  expect(await decided(stranger.key)).toMatchObject({
    runnable: false,
    reason: "funding_required",
    requiredAction: { kind: "add_funds" },
    humanGate: { thresholdMicros: 7 },
  });
  const poor = await makeKey({ projectId: tenant.projectId, scopes: ["jobs:read"] });
  expect(await decided(poor)).toMatchObject({ allowed: false, runnable: false, reason: "not_permitted" });
});
