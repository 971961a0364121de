import { afterAll, beforeAll, expect, test } from "vitest";
import * as billing from "@/server/domain/billing";
import * as credentials from "@/server/domain/connections";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { patchProject } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import type { Vendor } from "@/server/providers/testing/vendor";
import { call, finish, keyCtx, makeKey, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { ANSWER, MODELS, vendorAsOpenAi } from "@/testing/vault";
import { list, prune } from ".";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }], maxOutputTokens: 100 };

let vendor: Vendor;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ vendor, close } = await vendorAsOpenAi());
});
afterAll(() => close());

/** Makes a tenant with an owner who calls as a browser does. */
async function makeRoom() {
  vendor.answer(MODELS);
  const tenant = await makeTenant();
  const headers = await sessionHeaders(tenant.organizationId, "owner");
  const ask = (method: string, target: string, body?: unknown) =>
    call(method, `/v1/connections${target}`, { headers, ...(body === undefined ? {} : { body }) });
  const connect = (more: object = {}) =>
    ask("POST", "", {
      provider: "openai",
      secret: `sk-${newId("credential")}`,
      projectId: tenant.projectId,
      ...more,
    });
  return { tenant, headers, ask, connect };
}

const submit = (tenant: Tenant) => tenant.post(`/v1/capabilities/${TEXT}/jobs`, { input });

test("a connection is made, listed, read, bound, rotated and deleted, and stays a credential throughout", async () => {
  const { tenant, headers, ask, connect } = await makeRoom();
  const secret = "sk-canary-of-a-connection";
  const made = await connect({ secret: undefined, credentials: { apiKey: secret }, label: "Team" });
  expect(made.json.connection).toMatchObject({
    id: expect.stringMatching(/^cred_/),
    action: "created",
    label: "Team",
    status: "ready",
    bootstrapMode: "manual_api_key",
    userGuardrails: { dailyMicros: null, perExecutionMicros: null },
    bindings: [{ projectId: tenant.projectId, environment: "development", provider: "openai" }],
  });
  expect(vendor.arrived.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  const { action: _action, ...connection } = made.json.connection;
  expect((await ask("GET", "")).json.items).toEqual([connection]);
  expect((await ask("GET", `?projectId=${tenant.otherProjectId}`)).json.items).toEqual([]);
  const one = `/${connection.id}`;
  const read = await ask("GET", one);
  expect(read.json).toMatchObject({ ...connection, health: { state: "healthy", hours: [] } });
  const vault = `/v1/organizations/${tenant.organizationId}/provider-credentials`;
  const [credential] = (await call("GET", vault, { headers })).json.items;
  expect(credential).toMatchObject({ credentialId: connection.id, bindings: connection.bindings });
  const elsewhere = { projectId: tenant.otherProjectId, environment: "development" };
  const bound = await ask("POST", `${one}/bindings`, elsewhere);
  expect(bound.json).toMatchObject({ ...elsewhere, credentialId: connection.id, provider: "openai" });
  expect((await ask("GET", `${one}/bindings`)).json.items).toHaveLength(2);
  expect((await ask("DELETE", `${one}/bindings/${bound.json.bindingId}`)).json).toEqual({ unbound: true });
  const rotated = await ask("POST", `${one}/rotate`, {
    provider: "openai",
    credentials: "sk-the-second-2222",
  });
  expect(rotated.json.connection).toMatchObject({ action: "rotated", label: "Team", last4: "2222" });
  const deleted = await ask("DELETE", one);
  expect([deleted.status, deleted.json]).toEqual([200, { deleted: true }]);
  expect((await ask("GET", one)).status).toBe(404);
  for (const { text } of [made, read, rotated]) expect(text).not.toContain(secret);
});

test("credentials and secret may have the same value, and two different values are refused", async () => {
  const { connect } = await makeRoom();
  const secret = "sk-canary-spelled-twice";
  const same = await connect({ secret, credentials: { apiKey: secret } });
  expect(same.status).toBe(200);
  const other = await connect({ secret, credentials: "sk-another-canary", replaceExisting: true });
  expect(other.status).toBe(422);
  expect(other.json.detail[0]).toMatchObject({ loc: ["body", "credentials"] });
  expect(other.text).not.toContain("canary");
  const none = await connect({ secret: undefined });
  expect(none.json.detail[0]).toMatchObject({ loc: ["body", "secret"], type: "missing" });
});

test("an option that is not offered is refused by name", async () => {
  const { connect } = await makeRoom();
  for (const [more, field, words] of [
    [{ bootstrapMode: "oauth" }, ["bootstrapMode"], "manual_api_key"],
    [{ userGuardrails: { monthlyMicros: 1 } }, ["userGuardrails", "monthlyMicros"], ""],
    [{ userGuardrails: { dailyMicros: -1 } }, ["userGuardrails", "dailyMicros"], "At least 0"],
    [{ endpointUrl: "https://x.example" }, ["endpointUrl"], "fixed address"],
    [{ environment: "moon" }, ["environment"], "moon"],
  ] as const) {
    const { status, json } = await connect(more);
    expect([status, json.detail[0].loc]).toEqual([422, ["body", ...field]]);
    expect(json.detail[0].msg).toContain(words);
  }
});

test("a second connection of a provider is a conflict unless it replaces the first, which loses its binding", async () => {
  const { tenant, ask, connect } = await makeRoom();
  const first = (await connect()).json.connection;
  const refused = await connect();
  expect([refused.status, refused.json.detail.code]).toEqual([409, "AlreadyConnected"]);
  expect(refused.json.detail.details).toMatchObject({ credentialId: first.id });
  const second = (await connect({ replaceExisting: true })).json.connection;
  expect(second).toMatchObject({ action: "replaced", bindings: [{ projectId: tenant.projectId }] });
  expect((await ask("GET", `/${first.id}/bindings`)).json.items).toEqual([]);
  const loose = (await connect({ autoBind: false })).json.connection;
  expect(loose).toMatchObject({ action: "created", bindings: [] });
});

test("only one of several simultaneous connections for one environment is made", async () => {
  const { connect, ask } = await makeRoom();
  const made = await Promise.all(Array.from({ length: 6 }, () => connect()));
  expect(made.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  expect((await ask("GET", "")).json.items).toHaveLength(1);
});

test("the owner of a connection follows from the project or the only organization, and must otherwise be named", async () => {
  const { ask, tenant } = await makeRoom();
  const alone = await ask("POST", "", { provider: "openai", secret: "sk-of-this-test-alone" });
  expect(alone.json.connection).toMatchObject({ organizationId: tenant.organizationId, bindings: [] });
  const other = await makeTenant();
  const person = (organizations: string[]): Ctx => ({
    ...systemCtx("test"),
    principal: {
      kind: "human_session",
      id: "usr_of_several",
      email: "several@capstan.test",
      memberships: new Map(organizations.map((id) => [id, "owner" as const])),
      isOperator: false,
    },
  });
  await expect(list(person([tenant.organizationId, other.organizationId]), {})).rejects.toMatchObject({
    issues: [{ loc: ["body", "projectId"] }],
  });
  expect(
    (await list(person([tenant.organizationId, other.organizationId]), { projectId: other.projectId })).items,
  ).toEqual([]);
});

test("members, viewers and plain keys are refused every request for a connection, and strangers find none", {
  tags: "long",
}, async () => {
  const { tenant, connect } = await makeRoom();
  const { id, bindings } = (await connect()).json.connection;
  const stranger = await makeRoom();
  const requests: [string, string, unknown][] = [
    ["GET", `/${id}`, undefined],
    ["GET", `/${id}/bindings`, undefined],
    ["POST", `/${id}/bindings`, { projectId: tenant.projectId, environment: "development" }],
    ["DELETE", `/${id}/bindings/${bindings[0].bindingId}`, undefined],
    ["POST", `/${id}/test`, undefined],
    ["POST", `/${id}/repair`, undefined],
    ["POST", `/${id}/rotate`, { provider: "openai", secret: "sk-stolen" }],
    ["DELETE", `/${id}`, undefined],
  ];
  for (const role of ["member", "viewer"] as const) {
    const headers = await sessionHeaders(tenant.organizationId, role);
    for (const [method, target, body] of requests)
      expect(
        (await call(method, `/v1/connections${target}`, { headers, body })).status,
        `${method} ${target}`,
      ).toBe(403);
  }
  for (const [method, target, body] of requests) {
    expect((await stranger.ask(method, target, body)).status, `${method} ${target}`).toBe(404);
    const answer = await call(method, `/v1/connections${target}`, { key: tenant.unboundKey, body });
    expect(answer.status, `${method} ${target}`).toBe(403);
  }
});

test("a test stores and returns the provider's answer, and an inconclusive one leaves the connection unchanged", {
  tags: "long",
}, async () => {
  const { ask, connect } = await makeRoom();
  const { id } = (await connect()).json.connection;
  vendor.answer({ status: 401, json: { error: { code: "invalid_api_key" } } });
  const refused = (await ask("POST", `/${id}/test`)).json;
  expect(refused).toMatchObject({ outcome: "refused", connection: { status: "refused" } });
  vendor.answer({ status: 500 });
  expect((await ask("POST", `/${id}/test`)).json).toMatchObject({
    outcome: "unreachable",
    connection: { status: "refused" },
  });
  vendor.answer(MODELS);
  expect((await ask("POST", `/${id}/test`)).json).toMatchObject({ outcome: "ready", message: null });
  const { health } = (await ask("GET", `/${id}`)).json;
  expect(health.state).toBe("healthy");
  expect(health.checks.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    "ready",
    "unreachable",
    "refused",
    "ready",
  ]);
  for (let count = 0; count < 60; count++) await ask("POST", `/${id}/test`);
  const { rows } = await pool.query(
    "SELECT count(*)::int AS kept FROM connection_check WHERE credential_id = $1",
    [id],
  );
  expect(rows).toEqual([{ kept: 50 }]);
});

test("a repair states what was found, what to do and where, and a good connection has no steps", async () => {
  const { tenant, ask, connect } = await makeRoom();
  const { id } = (await connect()).json.connection;
  expect((await ask("POST", `/${id}/repair`)).json).toMatchObject({
    outcome: "ready",
    state: "healthy",
    steps: [],
  });
  vendor.answer({ status: 401, json: { error: { code: "invalid_api_key" } } });
  const { json } = await ask("POST", `/${id}/repair`);
  expect(json).toMatchObject({ outcome: "refused", state: "degraded", steps: [{ code: "replace_secret" }] });
  expect(json.steps[0].found).toBe(json.message);
  expect(json.steps[0].url).toContain(`/projects/${tenant.projectId}/connections`);
  vendor.answer({ status: 503 });
  expect((await ask("POST", `/${id}/repair`)).json.steps).toMatchObject([{ code: "wait_for_provider" }]);
  vendor.answer(MODELS);
  const loose = (await connect({ autoBind: false })).json.connection;
  expect((await ask("POST", `/${loose.id}/repair`)).json.steps).toMatchObject([{ code: "bind" }]);
});

test("outcomes of executions are counted by the hour, with a refused key as a failure, and old hours are deleted", async () => {
  const { tenant, ask, connect } = await makeRoom();
  const { id } = (await connect()).json.connection;
  vendor.answer(ANSWER);
  for (const _ of [1, 2]) await finish((await submit(tenant)).json.jobId);
  vendor.answer({ status: 401, json: { error: { code: "invalid_api_key" } } });
  for (const _ of [1, 2, 3]) await finish((await submit(tenant)).json.jobId);
  await credentials.writeConnectionOutcomes();
  const { health } = (await ask("GET", `/${id}`)).json;
  expect(health.state).toBe("degraded");
  expect(health.hours).toMatchObject([{ answered: 2, failed: 3, problem: expect.stringContaining("401") }]);
  vendor.answer(MODELS);
  const repair = (await ask("POST", `/${id}/repair`)).json;
  expect(repair.steps).toMatchObject([{ code: "look_at_failures", found: expect.stringContaining("401") }]);
  // The outcomes of a deleted connection are dropped, and those of others are still stored.
  credentials.recordConnectionOutcome(newId("credential"), null, new Date());
  credentials.recordConnectionOutcome(id, null, new Date());
  await credentials.writeConnectionOutcomes();
  const count = async () =>
    (
      await pool.query(
        "SELECT sum(answered)::int AS answered FROM connection_hour WHERE credential_id = $1",
        [id],
      )
    ).rows[0].answered;
  expect(await count()).toBe(3);
  const later = new Date(Date.now() + 31 * DAY_MS);
  await prune(
    systemCtx("pruner", () => later),
    tenant,
  );
  expect(await count()).toBeNull();
});

test("the panel's list shows the same state of a connection as its health, whatever the outcomes", async () => {
  const { tenant, headers, ask, connect } = await makeRoom();
  const { id, label } = (await connect({ label: "Team" })).json.connection;
  const said = async () => {
    const { health } = (await ask("GET", `/${id}`)).json;
    const shown = await credentials.projectConnections(await keyCtx(tenant.key), tenant.projectId);
    expect(shown.items).toMatchObject([{ credentialId: id, state: health.state }]);
    expect(health.account).toEqual({ connectionId: id, label, names: ["openai"] });
    return health.state;
  };
  const met = (hoursAgo: number, answered: number, failed: number) =>
    pool.query(
      "INSERT INTO connection_hour (credential_id, hour, answered, failed) VALUES ($1, date_trunc('hour', now(), 'UTC') - $2 * interval '1 hour', $3, $4)",
      [id, hoursAgo, answered, failed],
    );
  expect(await said()).toBe("healthy");
  for (const [answer, state] of [
    [{ status: 503 }, "degraded"],
    [{ status: 401, json: { error: { code: "invalid_api_key" } } }, "degraded"],
    [MODELS, "healthy"],
  ] as const) {
    vendor.answer(answer);
    const repair = (await ask("POST", `/${id}/repair`)).json;
    for (const { found } of repair.steps)
      expect(found === repair.message || found.includes(label)).toBe(true);
    expect(await said()).toBe(state);
  }
  await met(5, 0, 9);
  expect(await said()).toBe("healthy");
  await met(0, 1, 3);
  expect(await said()).toBe("degraded");
  await pool.query("DELETE FROM connection_hour WHERE credential_id = $1", [id]);
  await pool.query("DELETE FROM connection_check WHERE credential_id = $1", [id]);
  expect(await said()).toBe("idle");
  const vault = `/v1/organizations/${tenant.organizationId}/provider-credentials`;
  expect((await call("GET", vault, { headers })).json.items[0]).not.toHaveProperty("state"); // only the panel has this member
});

test("a project's own path connects and binds its environments in one step", async () => {
  const { tenant, headers } = await makeRoom();
  const target = `/v1/projects/${tenant.projectId}/provider-credentials`;
  const body = { provider: "openai", secret: "sk-of-the-project-path" };
  const made = await call("POST", target, { headers, body });
  const environments = made.json.bindings.map(({ environment }: { environment: string }) => environment);
  expect(environments.sort()).toEqual(["development", "production"]);
  expect((await call("POST", target, { headers, body })).json.detail.code).toBe("AlreadyConnected");
  expect((await call("POST", target, { key: tenant.unboundKey, body })).status).toBe(403);
  const stranger = await makeRoom();
  expect((await call("POST", target, { headers: stranger.headers, body })).status).toBe(404);
});

test("the keys of an archived project change no credential", async () => {
  const { tenant, connect, ask } = await makeRoom();
  const { id, bindings } = (await connect()).json.connection;
  const key = await makeKey({ projectId: tenant.projectId, scopes: ["credentials:write"] });
  await patchProject(systemCtx("test"), tenant.projectId, { status: "archived", clearRepository: false });
  const one = `/v1/organizations/${tenant.organizationId}/provider-credentials/${id}`;
  for (const [method, target, body] of [
    ["DELETE", `${one}/bindings/${bindings[0].bindingId}`, undefined],
    ["POST", `${one}/rotate`, { provider: "openai", secret: "sk-another" }],
    ["DELETE", one, undefined],
  ] as const) {
    const { status, json } = await call(method, target, { key, body });
    expect([status, json.detail.message], method).toEqual([403, expect.stringContaining("archived")]);
  }
  expect((await ask("GET", `/${id}/bindings`)).json.items).toHaveLength(1);
});

test("the ledger and the counted windows agree after guardrails, ends and deletions", async () => {
  const { tenant, ask, connect } = await makeRoom();
  const { id } = (await connect({ userGuardrails: { dailyMicros: 10_000_000 } })).json.connection;
  vendor.answer(ANSWER);
  await finish((await submit(tenant)).json.jobId);
  const { spend } = (await ask("GET", `/${id}`)).json;
  expect(spend).toMatchObject({ heldMicros: 0, settledMicros: expect.any(Number) });
  expect(spend.settledMicros).toBeGreaterThan(0);
  await submit(tenant);
  await ask("DELETE", `/${id}`);
  const { differences } = await billing.checkLedger(systemCtx("admin"), tenant.organizationId);
  // The wallet of a test is filled without a posting.
  expect(differences.filter(({ what }) => !what.endsWith("balance"))).toEqual([]);
  const { rows } = await pool.query("SELECT enforcement FROM budget WHERE scope = $1", [`connection:${id}`]);
  expect(rows).toEqual([{ enforcement: "off" }]);
});
