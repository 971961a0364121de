import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { setUp } from "@/docs/examples/second-project.mjs";
import { pool } from "@/server/platform/db";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { call, finish, makeTenant, type Tenant } from "@/testing/api";
import { makeManagementKey } from "@/testing/management";
import { cookieOf } from "@/testing/sessions";
import { MODELS, vendorAsOpenAi } from "@/testing/vault";

const TEXT = "text.general.fast.v1";
const CHAT = {
  json: {
    id: "1",
    model: "llama",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Deep." } }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  },
};

let openAi: Awaited<ReturnType<typeof vendorAsOpenAi>>;
let servers: Vendor[];
let foreign: Vendor;
beforeAll(async () => {
  openAi = await vendorAsOpenAi();
  servers = [await startVendor(), await startVendor()];
  foreign = await startVendor();
  for (const server of [...servers, foreign]) server.answer(MODELS);
});
afterAll(async () => {
  await Promise.all([...servers, foreign].map((server) => server.stop()));
  await openAi.close();
});

let tenant: Tenant;
let manager: Awaited<ReturnType<typeof makeManagementKey>>;
/** The organization's second project, the only one that the management key was created for. */
let projectId: string;
beforeEach(async () => {
  tenant = await makeTenant();
  projectId = tenant.otherProjectId;
  manager = await makeManagementKey({
    organizationId: tenant.organizationId,
    projectIds: [projectId],
    runScopes: ["capabilities:run", "jobs:read"],
    hosts: servers.map(({ url }) => new URL(url).host),
  });
});

const ask = (method: string, target: string, body?: unknown, key = manager.apiKey) =>
  call(method, target, { key, ...(body === undefined ? {} : { body }) });
const askOwner = async (method: string, target: string, body?: unknown) => {
  const cookie = await cookieOf(manager.owner.userId);
  const headers = { cookie, origin: "http://localhost:3000", "content-type": "application/json" };
  return call(method, target, { headers, ...(body === undefined ? {} : { body }) });
};
const refusalOf = ({ status, json }: Awaited<ReturnType<typeof call>>) => [status, json.code];
const connectionOf = (server: Vendor, more: object = {}) => ({
  provider: "openai-compatible",
  endpointUrl: server.url,
  models: "llama:1:1",
  secret: "sk-of-this-test",
  projectId,
  ...more,
});
const actionsOf = async () => {
  const { rows } = await pool.query<{ action: string }>(
    "SELECT action FROM audit_entry WHERE actor_id = $1 ORDER BY id",
    [manager.keyId],
  );
  return rows.map(({ action }) => action);
};

const setupOf = () => ({
  key: { name: "agent", scopes: ["capabilities:run", "jobs:read"] },
  budget: { period: "month", ceilingMicros: 50_000_000, enforcement: "prevent" },
  servers: [
    { label: "rack", endpointUrl: servers[0]!.url, models: "llama:1:1", secret: "sk-rack" },
    { label: "lab", endpointUrl: servers[1]!.url, models: "llama:1:1", secret: "sk-lab" },
  ],
  webhook: {
    url: "https://hooks.example/in",
    secret: "a secret of more than 24 characters",
    eventTypes: ["job.succeeded"],
  },
  approvals: { thresholdUsd: 5, requireDifferentApprover: true },
});
const send = async (method: string, target: string, body?: unknown) => {
  const { status, json, text } = await ask(method, target, body);
  expect(status, `${method} ${target}: ${text}`).toBeLessThan(300);
  return json;
};

test("the setup script applies changes of its setup, and names those that cannot be applied", async () => {
  await setUp(send, projectId, setupOf());
  const dearer = setupOf();
  dearer.servers[0]!.models = "llama:2:3";
  dearer.budget.ceilingMicros = 9_000_000;
  dearer.webhook.eventTypes = ["job.failed", "job.succeeded"];
  expect(await setUp(send, projectId, dearer)).toEqual({
    changed: ["budget", "server rack", "webhook"],
    differs: [],
    apiKey: null,
  });
  expect(await setUp(send, projectId, dearer)).toEqual({ changed: [], differs: [], apiKey: null });
  const { items } = await send("GET", `/v1/connections?projectId=${projectId}`);
  expect(items.find(({ label }: { label: string }) => label === "rack").models).toBe("llama:2:3");
  dearer.key.scopes = ["jobs:read"];
  dearer.servers[1]!.endpointUrl = "https://elsewhere.example/v1";
  const { changed, differs } = await setUp(send, projectId, dearer);
  expect(changed).toEqual([]);
  expect(differs).toEqual([
    expect.stringMatching(/^key agent: its scopes\. Revoke key_/),
    expect.stringMatching(/^server lab: its address\. Delete cred_/),
  ]);
});

test("a script with a management key sets up a second project over /v1 alone, and running it again changes nothing", {
  tags: "long",
}, async () => {
  const setup = setupOf();
  const first = await setUp(send, projectId, setup);
  expect(first.changed).toEqual(["key", "budget", "server rack", "server lab", "webhook", "approval rules"]);
  const done = await actionsOf();
  expect(await setUp(send, projectId, setup)).toEqual({ changed: [], differs: [], apiKey: null });
  expect(await actionsOf()).toEqual(done);

  const lab = { executionConstraints: { providerPin: "openai-compatible:lab", preferredModel: "llama" } };
  const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
  const target = `/v1/capabilities/${TEXT}/jobs`;
  const { json } = await ask("POST", target, { input, execution: lab }, first.apiKey ?? "");
  servers[1]!.answer(CHAT);
  expect((await finish(json.jobId)).status).toBe("succeeded");
  expect(servers[1]!.arrived.at(-1)?.headers.authorization).toBe("Bearer sk-lab");
  servers[1]!.answer(MODELS);
});

test("a management key creates connections only at hosts that the owner allowed and in its own projects", async () => {
  const refused = await ask("POST", "/v1/connections", connectionOf(foreign));
  expect(refusalOf(refused)).toEqual([403, "AuthorizationFailed"]);
  expect(refused.json.detail.details).toEqual({
    host: new URL(foreign.url).host,
    allowed: servers.map(({ url }) => new URL(url).host),
  });
  expect(foreign.arrived).toEqual([]);
  const openai = { provider: "openai", secret: "sk-of-this-test", projectId };
  expect(refusalOf(await ask("POST", "/v1/connections", openai))).toEqual([403, "AuthorizationFailed"]);
  const elsewhere = connectionOf(servers[0]!, { projectId: tenant.projectId });
  expect(refusalOf(await ask("POST", "/v1/connections", elsewhere))).toEqual([403, "AuthorizationFailed"]);
  const nowhere = connectionOf(servers[0]!, { projectId: undefined });
  expect(refusalOf(await ask("POST", "/v1/connections", nowhere))).toEqual([422, "PROJECT_REQUIRED"]);
  const unbound = connectionOf(servers[0]!, { autoBind: false });
  expect(refusalOf(await ask("POST", "/v1/connections", unbound))).toEqual([403, "AuthorizationFailed"]);
  expect(await actionsOf()).toEqual([]);
});

test("a management key reads, tests, rotates, unbinds and deletes a connection of its projects, and finds none that serves others", {
  tags: "long",
}, async () => {
  const { id } = (await ask("POST", "/v1/connections", connectionOf(servers[0]!))).json.connection;
  const one = `/v1/connections/${id}`;
  expect((await ask("GET", one)).json).toMatchObject({ id, endpointUrl: servers[0]!.url });
  expect((await ask("POST", `${one}/test`)).json.outcome).toBe("ready");
  const secret = { provider: "openai-compatible", secret: "sk-another" };
  expect((await ask("POST", `${one}/rotate`, secret)).json.connection.action).toBe("rotated");
  const place = { projectId, environment: "production" };
  const bound = (await ask("POST", `${one}/bindings`, place)).json;
  expect((await ask("DELETE", `${one}/bindings/${bound.bindingId}`)).status).toBe(200);
  const away = { projectId: tenant.projectId, environment: "development" };
  expect(refusalOf(await ask("POST", `${one}/bindings`, away))).toEqual([404, "NotFound"]);

  const wide = (await askOwner("POST", "/v1/connections", connectionOf(servers[1]!, { label: "wide" }))).json
    .connection;
  await askOwner("POST", `/v1/connections/${wide.id}/bindings`, away);
  const other = `/v1/connections/${wide.id}`;
  expect(refusalOf(await ask("GET", other))).toEqual([404, "NotFound"]);
  expect(refusalOf(await ask("DELETE", other))).toEqual([404, "NotFound"]);
  expect(refusalOf(await ask("POST", `${other}/rotate`, secret))).toEqual([404, "NotFound"]);
  const { json } = await ask("GET", `/v1/connections?projectId=${projectId}`);
  expect(json.items.map((each: { id: string }) => each.id)).toEqual([id]);
  expect((await ask("DELETE", one)).json).toEqual({ deleted: true });
  expect(await actionsOf()).toEqual([
    "credential.created",
    "credential.bound",
    "credential.checked",
    "credential.rotated",
    "credential.bound",
    "credential.unbound",
    "credential.deleted",
  ]);
});

test("a plain key with credentials:write rotates and deletes its project's connections, and connects nothing", async () => {
  const { id } = (await ask("POST", "/v1/connections", connectionOf(servers[0]!))).json.connection;
  const { json } = await askOwner("POST", "/v1/api-keys", {
    name: "rotates",
    projectId,
    scopes: ["credentials:write"],
  });
  const key: string = json.apiKey;
  for (const [method, target, body] of [
    ["GET", "/v1/connections", undefined],
    ["GET", `/v1/connections/${id}`, undefined],
    ["POST", "/v1/connections", connectionOf(servers[1]!, { label: "b" })],
  ] as const)
    expect(refusalOf(await ask(method, target, body, key))).toEqual([403, "AuthorizationFailed"]);
  const one = `/v1/organizations/${tenant.organizationId}/provider-credentials/${id}`;
  const secret = { provider: "openai-compatible", secret: "sk-another" };
  expect((await ask("POST", `${one}/rotate`, secret, key)).status).toBe(200);
  expect((await ask("DELETE", one, undefined, key)).status).toBe(200);
});

test("a management key creates, lists and changes webhooks in its projects only", async () => {
  const hook = { url: "https://hooks.example/in", secret: "a secret of this test alone" };
  const { endpointId } = (await ask("POST", "/v1/delivery-endpoints", { ...hook, projectId })).json;
  const foreign = await askOwner("POST", "/v1/delivery-endpoints", { ...hook, projectId: tenant.projectId });
  const { json } = await ask("GET", "/v1/delivery-endpoints");
  expect(json.items.map((each: { endpointId: string }) => each.endpointId)).toEqual([endpointId]);
  expect((await ask("GET", `/v1/deliveries?projectId=${projectId}`)).json.items).toEqual([]);
  const change = { enabled: false };
  expect((await ask("PATCH", `/v1/delivery-endpoints/${endpointId}`, change)).json.enabled).toBe(false);
  const elsewhere = `/v1/delivery-endpoints/${foreign.json.endpointId}`;
  expect(refusalOf(await ask("PATCH", elsewhere, change))).toEqual([404, "NotFound"]);
  const other = await ask("POST", "/v1/delivery-endpoints", { ...hook, projectId: tenant.projectId });
  expect(refusalOf(other)).toEqual([403, "AuthorizationFailed"]);
  expect((await ask("POST", "/v1/delivery-endpoints", hook)).json.code).toBe("PROJECT_REQUIRED");
});

test("a management key makes approval rules stricter and never looser, in its projects only", async () => {
  const rules = `/v1/projects/${projectId}/approval-rules`;
  const put = (thresholdUsd: number | null, requireDifferentApprover: boolean) =>
    ask("PUT", rules, { thresholdUsd, requireDifferentApprover });
  for (const [threshold, second] of [
    [5, false],
    [5, true],
    [2, true],
    [0, true],
  ] as const) {
    expect((await put(threshold, second)).json).toEqual({
      projectId,
      thresholdUsd: threshold,
      requireDifferentApprover: second,
    });
  }
  for (const [threshold, second, field] of [
    [0.000001, true, "thresholdUsd"],
    [null, true, "thresholdUsd"],
    [0, false, "requireDifferentApprover"],
  ] as const) {
    const refused = await put(threshold, second);
    expect(refusalOf(refused)).toEqual([403, "AuthorizationFailed"]);
    expect(refused.json.detail.details.field).toBe(field);
  }
  expect((await ask("GET", rules)).json.thresholdUsd).toBe(0);
  expect(await actionsOf()).toEqual(Array.from({ length: 4 }, () => "project.approval_rules_set"));
  for (const other of [tenant.projectId, (await makeTenant()).projectId]) {
    const target = `/v1/projects/${other}/approval-rules`;
    expect(refusalOf(await ask("GET", target))).toEqual([404, "NotFound"]);
    const body = { thresholdUsd: 0, requireDifferentApprover: true };
    expect(refusalOf(await ask("PUT", target, body))).toEqual([404, "NotFound"]);
  }
  expect((await askOwner("PUT", rules, { thresholdUsd: null, requireDifferentApprover: false })).status).toBe(
    200,
  );
});

test("a management key turns external actions off, and only an owner turns them on", async () => {
  const target = `/v1/organizations/${tenant.organizationId}/external-actions`;
  const set = (externalActions: boolean) => ask("PUT", target, { externalActions });
  expect((await set(true)).json).toEqual({ externalActions: true });
  expect(await actionsOf()).toEqual([]);
  expect((await set(false)).json).toEqual({ externalActions: false });
  expect(refusalOf(await set(true))).toEqual([403, "AuthorizationFailed"]);
  expect(await actionsOf()).toEqual(["external_actions.changed"]);
  expect((await askOwner("PUT", target, { externalActions: true })).json).toEqual({ externalActions: true });
  const other = `/v1/organizations/${(await makeTenant()).organizationId}/external-actions`;
  expect(refusalOf(await ask("PUT", other, { externalActions: false }))).toEqual([404, "NotFound"]);
});
