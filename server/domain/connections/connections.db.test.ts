import fs from "node:fs";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import * as credentials from "@/server/domain/connections";
import { createKey } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { call, finish, makeKey, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { MODELS, vendorAsOpenAi } from "@/testing/vault";

const TEXT = "text.general.fast.v1";
const at = (what: string) => `/v1/capabilities/${TEXT}/${what}`;
const input = { messages: [{ role: "user", content: "How deep is the sea?" }], maxOutputTokens: 100 };
const ANSWER = {
  json: {
    id: "resp_1",
    model: "gpt-5.6-luna",
    status: "completed",
    service_tier: "flex",
    output: [{ type: "message", content: [{ type: "output_text", text: "Eleven kilometres." }] }],
    usage: { input_tokens: 20, output_tokens: 5 },
  },
};
const CHAT = {
  json: {
    id: "chat-1",
    model: "llama",
    choices: [{ finish_reason: "stop", message: { content: "Deep." } }],
    usage: { prompt_tokens: 1_000_000, completion_tokens: 0 },
  },
};

let vendor: Vendor;
let closeVendor: () => Promise<void>;
beforeAll(async () => {
  ({ vendor, close: closeVendor } = await vendorAsOpenAi());
});
afterAll(() => closeVendor());
afterEach(() => {
  setSettings({ OPENAI_API_KEY: undefined });
  vi.restoreAllMocks();
});

type Wish = { secret?: string; provider?: string; endpointUrl?: string; models?: string };
/** Connects a project of the tenant with a secret of its own. */
async function connect(
  { organizationId, projectId }: Tenant,
  { secret = `sk-${newId("credential")}`, provider = "openai", ...server }: Wish = {},
  place = { projectId, environment: "development" },
) {
  vendor.answer(MODELS);
  const wanted = { provider, secret, label: "default", ...server };
  const { credentialId, bindings } = await credentials.createCredential(system, organizationId, wanted, [
    place,
  ]);
  return { credentialId, bindingId: bindings[0]?.bindingId ?? "", secret };
}

const quoted = async (tenant: Tenant, execution: object = {}, key = tenant.key) =>
  (await tenant.post(at("quote"), { input, execution }, { key })).json;
const submit = async (tenant: Tenant) => (await tenant.post(at("jobs"), { input })).json.jobId as string;
const receiptOf = async (tenant: Tenant, jobId: string) =>
  (await tenant.get(`/v1/jobs/${jobId}/receipt`)).json;
const sent = () => vendor.arrived.filter(({ method }) => method === "POST");

test("a project's own account before the operator's, before the sandbox; billingMode and names choose otherwise", {
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
  // At list price: nothing of ours on top.
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

test("two projects run on their own accounts: each secret goes out for its own work, and the customer pays the provider", async () => {
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

test("an invoke runs on the project's account at once, without waiting for the cheaper tier", async () => {
  const tenant = await makeTenant();
  const { secret } = await connect(tenant);
  vendor.answer(ANSWER);
  const { status, json } = await tenant.post(at("invoke"), { input });
  expect([status, json.resolvedProvider]).toEqual([200, "openai"]);
  expect(sent()[0]?.headers.authorization).toBe(`Bearer ${secret}`);
});

test.each([
  ["deleted", (of: Tenant, id: string) => credentials.deleteCredential(system, of.organizationId, id)],
  [
    "unbound",
    (of: Tenant, id: string, binding: string) =>
      credentials.unbindCredential(system, of.organizationId, id, binding),
  ],
] as const)(
  "a connection that is %s while a job waits sends nothing and gives the money back",
  async (_how, end) => {
    const tenant = await makeTenant();
    const { credentialId, bindingId } = await connect(tenant);
    const jobId = await submit(tenant);
    await end(tenant, credentialId, bindingId);
    // Not even where another one has taken its place: what was admitted on an account runs on it or not at all.
    await connect(tenant);
    vendor.answer(ANSWER);
    const job = await finish(jobId);
    expect(job).toMatchObject({ status: "failed", error: { code: "ProviderUnavailable" } });
    expect(job.error?.message).toContain("no longer connected");
    expect(sent()).toEqual([]);
    const { rows } = await pool.query("SELECT state FROM hold WHERE execution_id = $1", [jobId]);
    expect(rows).toEqual([{ state: "released" }]);
  },
);

test("what waits when a secret is rotated runs with the new one", async () => {
  const tenant = await makeTenant();
  const { credentialId } = await connect(tenant);
  const jobId = await submit(tenant);
  await credentials.rotateCredential(system, tenant.organizationId, credentialId, {
    provider: "openai",
    secret: "sk-the-second-one",
    label: "default",
  });
  vendor.answer(ANSWER);
  expect((await finish(jobId)).status).toBe("succeeded");
  expect(sent().map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-the-second-one"]);
});

test("a ciphertext copied from another organization's row does not open: nothing is sent", async () => {
  const [mine, theirs] = [await makeTenant(), await makeTenant()];
  const [own, foreign] = [await connect(mine), await connect(theirs)];
  const jobId = await submit(mine);
  await pool.query(
    "UPDATE credential SET sealed = (SELECT sealed FROM credential WHERE id = $2) WHERE id = $1",
    [own.credentialId, foreign.credentialId],
  );
  vendor.answer(ANSWER);
  expect(await finish(jobId)).toMatchObject({ status: "failed", error: { code: "ProviderUnavailable" } });
  expect(sent()).toEqual([]);
  const binding = [own.credentialId, theirs.organizationId];
  await expect(
    pool.query("UPDATE credential_binding SET organization_id = $2 WHERE credential_id = $1", binding),
  ).rejects.toThrow(/foreign key/);
});

test("a secret goes to the address it was made for, wherever this deployment reaches the provider by now", async () => {
  const tenant = await makeTenant();
  await connect(tenant);
  const jobId = await submit(tenant);
  const elsewhere = await startVendor();
  const before = env.OPENAI_BASE_URL;
  try {
    setSettings({ OPENAI_BASE_URL: elsewhere.url });
    vendor.answer(ANSWER);
    expect((await finish(jobId)).status).toBe("succeeded");
    expect([sent().length, elsewhere.arrived]).toEqual([1, []]);
  } finally {
    setSettings({ OPENAI_BASE_URL: before });
    await elsewhere.stop();
  }
});

test("a server of one's own: its models with their prices are targets of its project alone, reached with its own key", async () => {
  const [tenant, stranger] = [await makeTenant(), await makeTenant()];
  const server = await startVendor();
  try {
    server.answer(MODELS);
    const models = "llama:0.25:0.5,llama:big:1:2";
    const own = { provider: "openai-compatible", endpointUrl: `${server.url}/v1/`, models };
    const { secret } = await connect(tenant, own);
    await connect(stranger);
    const named = { executionConstraints: { preferredModel: "llama:big" } };
    expect((await quoted(tenant, named)).resolved).toMatchObject({
      provider: "openai-compatible",
      model: "llama:big",
      billingMode: "byok",
    });
    expect((await quoted(stranger, named)).detail.code).toBe("ROUTE_UNAVAILABLE");
    const wanted = { input, execution: { executionConstraints: { preferredModel: "llama" } } };
    const { jobId } = (await tenant.post(at("jobs"), wanted)).json;
    server.answer(CHAT);
    vendor.answer(ANSWER);
    expect((await finish(jobId)).status).toBe("succeeded");
    expect(server.arrived.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1/chat/completions", `Bearer ${secret}`],
    ]);
    expect(sent()).toEqual([]);
    // A million tokens at the price its owner listed.
    expect((await receiptOf(tenant, jobId)).pricing.providerCost.amount.amountMicros).toBe(250_000);
  } finally {
    await server.stop();
  }
});

test("several servers in one environment: the first keeps the provider's name, further ones add their label", async () => {
  const tenant = await makeTenant();
  const servers = await Promise.all([startVendor(), startVendor(), startVendor()]);
  onTestFinished(async () => void (await Promise.all(servers.map((each) => each.stop()))));
  for (const each of servers) each.answer(MODELS);
  const own = (place: number, label?: string) => ({
    provider: "openai-compatible",
    endpointUrl: servers[place]!.url,
    models: "llama:1:1",
    ...(label ? { label } : {}),
  });
  const first = await connect(tenant, own(0, "Old rack"));
  const second = await connect(tenant, own(1, "GPU Lab"));
  const preferring = (providerPin: string) => ({
    executionConstraints: { providerPin, preferredModel: "llama" },
  });
  expect((await quoted(tenant, preferring("openai-compatible"))).resolved.provider).toBe("openai-compatible");
  const named = "openai-compatible:gpu-lab";
  expect((await quoted(tenant, preferring(named))).resolved).toMatchObject({
    provider: named,
    model: "llama",
  });

  const { jobId } = (await tenant.post(at("jobs"), { input, execution: preferring(named) })).json;
  servers[1]!.answer(CHAT);
  expect((await finish(jobId)).status).toBe("succeeded");
  expect(
    servers.map(({ arrived }) =>
      arrived.flatMap(({ method, headers }) => (method === "POST" ? [headers.authorization] : [])),
    ),
  ).toEqual([[], [`Bearer ${second.secret}`], []]);
  expect(first.secret).not.toBe(second.secret);
  expect((await receiptOf(tenant, jobId)).route).toMatchObject({ provider: named, model: "llama" });
  expect((await quoted(tenant, { executionConstraints: { providerPin: `${named}-2` } })).detail.code).toBe(
    "ROUTE_UNAVAILABLE",
  );
});

test("a lockfile made while an environment had one server verifies after another one got a name", async () => {
  const tenant = await makeTenant();
  const servers = await Promise.all([startVendor(), startVendor()]);
  onTestFinished(async () => void (await Promise.all(servers.map((each) => each.stop()))));
  for (const each of servers) each.answer(MODELS);
  const own = (place: number, label: string) => ({
    provider: "openai-compatible",
    endpointUrl: servers[place]!.url,
    models: "llama:1:1",
    label,
  });
  await connect(tenant, own(0, "Old rack"));
  servers[0]!.answer(CHAT);
  const pin = { provider: "openai-compatible", model: "llama", api: "chat-completions" };
  const { json, text } = await tenant.post("/v1/inference/pinned", {
    pin,
    input: "How deep is the sea?",
    sampling: { maxOutputTokens: 100 },
  });
  expect(json.receipt, text).toBeDefined();
  const lockfile = await tenant.get(`/v1/provenance/lockfile?receipt_id=${json.receipt.receipt_id}`);
  expect(lockfile.json.pin).toEqual(pin);

  await connect(tenant, own(1, "GPU Lab"));
  const verified = await tenant.post("/v1/provenance/lockfile/verify", lockfile.json);
  expect(verified.json).toMatchObject({ verified: true });
});

test("without an account a person is led to the form of the provider that is missing", async () => {
  const tenant = await makeTenant();
  const { detail } = await quoted(tenant, { executionConstraints: { providerPin: "openai" } });
  expect(detail).toMatchObject({ code: "CONNECTION_REQUIRED", details: { provider: "openai" } });
  const url = new URL(detail.details.connectUrl);
  expect(url.pathname).toBe(`/projects/${tenant.projectId}/connections`);
  expect(Object.fromEntries(url.searchParams)).toEqual({ environment: "development", provider: "openai" });
});

test("the catalog is true for who looks: ways to pay, targets and the decision whether it could run", async () => {
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

/** A secret in every form it could be carried in, and each run of its characters of length twelve. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const pieces = Array.from({ length: secret.length - 11 }, (_, start) => secret.slice(start, start + 12));
  return [
    ...pieces,
    bytes.toString("base64").slice(0, 16),
    bytes.toString("hex"),
    encodeURIComponent(secret),
  ];
}

test("a secret is nowhere to be read: not in answers, errors, receipts, logs or the database", async () => {
  const tenant = await makeTenant();
  const secret = "sk-canary/7Qm+41zXw=Lp9vT3";
  const written: string[] = [];
  const { level } = log;
  onTestFinished(() => {
    log.level = level;
  });
  log.level = "trace";
  for (const name of ["writeSync", "write"] as const)
    vi.spyOn(fs, name).mockImplementation(((_fd: number, data: string, ...rest: unknown[]) => {
      written.push(String(data));
      const done = rest.at(-1);
      if (typeof done === "function") done(null, Buffer.byteLength(String(data)), data);
      return Buffer.byteLength(String(data));
    }) as never); // both take a descriptor first
  const answers: string[] = [];
  const owner = await sessionHeaders(tenant.organizationId, "owner");
  const path = `/v1/organizations/${tenant.organizationId}/provider-credentials`;
  const body = { provider: "openai", secret };
  const echo = {
    status: 401,
    headers: { "x-request-id": secret },
    json: { error: { code: secret, message: secret } },
  };
  vendor.answer(echo);
  const keep = async (answer: ReturnType<typeof call>) => {
    const { text, headers, json } = await answer;
    answers.push(text, JSON.stringify(headers));
    return json;
  };
  await keep(call("POST", path, { headers: owner, body }));
  await keep(call("POST", path, { headers: owner, body: { ...body, secret: `${secret}\n\u00fc` } }));
  vendor.answer(MODELS);
  const { credentialId } = await keep(call("POST", path, { headers: owner, body }));
  await keep(call("GET", path, { headers: owner }));
  const place = { projectId: tenant.projectId, environment: "development", provider: "openai" };
  await keep(call("POST", `${path}/${credentialId}/bindings`, { headers: owner, body: place }));
  const key = await makeKey({ projectId: tenant.projectId, scopes: ["credentials:write"] });
  await keep(call("POST", `${path}/${credentialId}/rotate`, { key, body }));
  for (const script of [ANSWER, echo, { ...echo, status: 500 }, { text: secret }, "cut"] as const) {
    vendor.answer(script);
    const jobId = await submit(tenant);
    const job = await finish(jobId);
    answers.push(JSON.stringify(job));
    for (const more of ["", "/receipt", "/events", "/result", "/request"])
      await keep(tenant.get(`/v1/jobs/${jobId}${more}`));
    vendor.answer(script);
    await keep(tenant.post(at("invoke"), { input }));
  }
  expect(vendor.arrived[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  // The test's own vendor spoke it, and the log was written to.
  const { rows: tables } = await pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
  );
  const dump: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT "${name}"::text AS row FROM "${name}"`);
    dump.push(...rows.map(({ row }) => row));
  }
  log.warn({ credentialId }, "the log is heard by this test");
  expect(written.join("\n")).toContain(credentialId);
  expect(dump.join("\n")).toContain(credentialId);
  expect(answers.join("\n")).toContain(credentialId);
  for (const form of formsOf(secret)) {
    for (const place of [answers, dump, written])
      expect(place.some((text) => text.includes(form))).toBe(false);
  }
});
