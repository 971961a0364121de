import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { sessionHeaders } from "@/testing/api";
import { makeManagementKey } from "@/testing/management";
import { setSettings } from "@/testing/settings";
import { MODELS, openVault, SECRET, type Vault } from "@/testing/vault";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { openTenant, owner, TEXT } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** Connections of a tenant of their own, to which the other tenant's owner is a stranger. */
let vault: Vault;
beforeAll(async () => {
  vault = await openVault();
}, 60_000);
afterAll(() => vault.close());

everyEndpoint("credentials", {
  sample: ({ method, path }) => vault.sample(method, path),
  tenant: () => vault.tenant,
  owner: () => vault.owner,
});

describe("provider credentials", () => {
  const secret = "sk-of-this-test-alone";
  const create = (wanted: ExpectedStatus, body: object) =>
    ask(wanted, "POST", vault.path, { ...vault.owner, body: { provider: "openai", secret, ...body } });
  const listed = async () => (await ask(200, "GET", vault.path, vault.owner)).json.items;

  test("create checks with the provider first: a rejected secret is 422 at its field, a check without a usable answer is 503, and neither stores anything", async () => {
    const before = await listed();
    vault.vendor.answer({ status: 401, json: { error: { code: "invalid_api_key", message: secret } } });
    const refused = await create([422, "list"], {});
    expect(refused.json.detail).toEqual([
      { loc: ["body", "secret"], msg: expect.stringContaining("OpenAI"), type: "refused_by_provider" },
    ]);
    for (const script of ["close", { status: 500 }, { status: 429 }, { text: "no list" }] as const) {
      vault.vendor.answer(script);
      expect((await create([503, "ProviderUnavailable"], {})).text).not.toContain(secret);
    }
    vault.vendor.answer(MODELS);
    expect(await listed()).toEqual(before);

    const made = await create(200, { label: "Team" });
    expect(vault.vendor.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /models"]);
    expect(vault.vendor.arrived[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(made.json).toMatchObject({ label: "Team", last4: "lone", status: "ready", bindings: [] });
    expect(made.text).not.toContain(secret);
    expect((await listed())[0]).toEqual(made.json);
    await ask(200, "DELETE", `${vault.path}/${made.json.credentialId}`, vault.owner);
  });

  test("an invalid provider, secret, address or list of models is 422", async () => {
    for (const [body, field] of [
      [{ provider: "unknown" }, "provider"],
      [{ provider: "sandbox" }, "provider"],
      [{ secret: "" }, "secret"],
      [{ secret: '{"apiKey": 1}' }, "secret"],
      [{ secret: '{"apiKey": "sk", "other": "x"}' }, "secret"],
      [{ secret: "{half" }, "secret"],
      [{ secret: "sk-\nsecond line" }, "secret"],
      [{ secret: undefined }, "secret"],
      [{ label: "" }, "label"],
      [{ endpointUrl: "https://elsewhere.example" }, "endpointUrl"],
      [{ models: "m:1:1" }, "models"],
      [{ provider: "openai-compatible", models: "m:1:1" }, "endpointUrl"],
      [{ provider: "openai-compatible", endpointUrl: "https://x.example" }, "models"],
      [{ provider: "openai-compatible", endpointUrl: "no url", models: "m:1:1" }, "endpointUrl"],
      [
        { provider: "openai-compatible", endpointUrl: "https://a:b@x.example", models: "m:1:1" },
        "endpointUrl",
      ],
      [{ provider: "openai-compatible", endpointUrl: "https://x.example", models: "free" }, "models"],
      [{ provider: "openai-compatible", endpointUrl: "https://x.example", models: "," }, "models"],
    ] as const) {
      const { json } = await create([422, "list"], body);
      expect(json.detail[0].loc, JSON.stringify(body)).toEqual(["body", field]);
    }
    setSettings({ ALLOW_PRIVATE_ADDRESSES: false });
    for (const endpointUrl of ["http://x.example", "https://127.0.0.1/v1", "https://localhost"]) {
      const { json } = await create([422, "list"], {
        provider: "openai-compatible",
        endpointUrl,
        models: "m:1:1",
      });
      expect(json.detail[0].loc).toEqual(["body", "endpointUrl"]);
    }
    setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
  });

  test("members get 403, and strangers and unknown ids 404", async () => {
    const member = { headers: await sessionHeaders(vault.tenant.organizationId, "member") };
    const { credentialId, bindingId } = await vault.connect();
    const one = `${vault.path}/${credentialId}`;
    const bind = { projectId: vault.tenant.projectId, environment: "development", provider: "openai" };
    const requests = (path: string, binding: string) =>
      [
        ["POST", `${path}/rotate`, { provider: "openai", secret }],
        ["POST", `${path}/bindings`, bind],
        ["DELETE", `${path}/bindings/${binding}`, undefined],
        ["DELETE", path, undefined],
      ] as const;
    const create = { provider: "openai", secret };
    for (const [method, target, body] of requests(one, bindingId)) {
      await ask([403, "AuthorizationFailed"], method, target, { ...member, body });
      await ask([404, "NotFound"], method, target, { ...owner, body });
    }
    await ask([403, "AuthorizationFailed"], "GET", vault.path, member);
    await ask([403, "AuthorizationFailed"], "POST", vault.path, { ...member, body: create });
    await ask([404, "NotFound"], "GET", vault.path, owner);
    await ask([404, "NotFound"], "POST", vault.path, { ...owner, body: create });
    for (const [method, target, body] of requests(`${vault.path}/${newId("credential")}`, newId("binding")))
      await ask([404, "NotFound"], method, target, { ...vault.owner, body });
  });

  test("a rotation keeps id, bindings and address; if the provider rejects or is unreachable, the old secret stays", async () => {
    const { credentialId } = await vault.connect();
    const target = `${vault.path}/${credentialId}/rotate`;
    const rotate = (wanted: ExpectedStatus, body: object) =>
      ask(wanted, "POST", target, { ...vault.owner, body: { provider: "openai", secret, ...body } });
    const before = (await listed())[0];
    vault.vendor.answer({ status: 401 });
    await rotate([422, "list"], {});
    vault.vendor.answer("close");
    await rotate([503, "ProviderUnavailable"], {});
    vault.vendor.answer(MODELS);
    for (const body of [
      { provider: "openai-compatible" },
      { endpointUrl: "https://x.example" },
      { models: "m:1:1" },
    ])
      await rotate([422, "list"], body);
    expect((await listed())[0]).toEqual(before);
    const { json } = await rotate(200, { label: "Second" });
    expect(json).toMatchObject({
      ...before,
      label: "Second",
      last4: "lone",
      rotatedAt: expect.any(String),
      fingerprint: expect.not.stringContaining(before.fingerprint),
      checkedAt: expect.any(String),
    });
  });

  test("a provider has one credential per environment: the same again is the same binding, another is 409", async () => {
    const [first, second] = [await vault.connect(), await create(200, {})];
    const bind = (wanted: ExpectedStatus, credentialId: string, more = {}) =>
      ask(wanted, "POST", `${vault.path}/${credentialId}/bindings`, {
        ...vault.owner,
        body: { projectId: vault.tenant.projectId, environment: "development", provider: "openai", ...more },
      });
    expect((await bind(200, first.credentialId)).json.bindingId).toBe(first.bindingId);
    const refused = await bind([409, "AlreadyConnected"], second.json.credentialId);
    expect(refused.json.detail.details).toEqual(first);
    for (const more of [
      { provider: "openai-compatible" },
      { environment: "moon" },
      { projectId: newId("project") },
    ])
      await bind([422, "list"], second.json.credentialId, more);
    await bind(200, second.json.credentialId, { projectId: vault.tenant.otherProjectId });
    const one = `${vault.path}/${first.credentialId}/bindings/${first.bindingId}`;
    expect((await ask(200, "DELETE", one, vault.owner)).json).toEqual({ unbound: true });
    await bind(200, second.json.credentialId);
    await vault.connect();
  });
});

describe("connections", () => {
  test("a management key must name one of its projects", async () => {
    const { organizationId, projectId } = vault.tenant;
    const { apiKey: key } = await makeManagementKey({ organizationId, projectIds: [projectId] });
    await ask([422, "PROJECT_REQUIRED"], "GET", "/v1/connections", { key });
    const body = { provider: "openai", secret: SECRET };
    await ask([422, "PROJECT_REQUIRED"], "POST", "/v1/connections", { key, body });
  });

  const CONNECTIONS = "/v1/connections";
  const account = { provider: "openai", secret: "sk-of-this-test-alone" };
  const send = (wanted: ExpectedStatus, method: string, target: string, body?: object) =>
    ask(wanted, method, `${CONNECTIONS}${target}`, { ...vault.owner, ...(body ? { body } : {}) });
  const start = async () =>
    (
      await send(200, "POST", "/onboarding/sessions", {
        capabilities: [TEXT],
        projectId: vault.tenant.projectId,
      })
    ).json.sessionId;

  test("unknown connections are 404, and all of them to strangers", async () => {
    const { projectId } = vault.tenant;
    const bind = { projectId, environment: "development" };
    const { credentialId } = await vault.connect();
    for (const [method, target, body] of [
      ["GET", "", undefined],
      ["DELETE", "", undefined],
      ["GET", "/bindings", undefined],
      ["POST", "/bindings", bind],
      ["DELETE", `/bindings/${newId("binding")}`, undefined],
      ["POST", "/test", undefined],
      ["POST", "/repair", undefined],
      ["POST", "/rotate", account],
    ] as const) {
      await send([404, "NotFound"], method, `/${newId("credential")}${target}`, body);
      const foreign = `${CONNECTIONS}/${credentialId}${target}`;
      await ask([404, "NotFound"], method, foreign, { ...owner, body });
    }
    const ofProject = `/v1/projects/${projectId}/provider-credentials`;
    await ask([404, "NotFound"], "POST", ofProject, { ...owner, body: account });
    for (const target of ["", "/result"])
      await send([404, "NotFound"], "GET", `/onboarding/sessions/${newId("onboarding")}${target}`);
    await send([404, "NotFound"], "POST", `/onboarding/sessions/${newId("onboarding")}/complete`, {
      provider: "openai",
    });
  });

  test("a second connection is 409, an unreachable provider 503, and an ended session 410", async () => {
    const { projectId } = vault.tenant;
    await vault.connect();
    const loose = (await send(200, "POST", "", { ...account, autoBind: false })).json.connection;
    const sessionId = await start();
    const complete = `/onboarding/sessions/${sessionId}/complete`;
    const inPlace = { ...account, projectId };
    const ofProject = `/v1/projects/${projectId}/provider-credentials`;
    await send([409, "AlreadyConnected"], "POST", "", inPlace);
    await send([409, "AlreadyConnected"], "POST", `/${loose.id}/rotate`, inPlace);
    await send([409, "AlreadyConnected"], "POST", `/${loose.id}/bindings`, {
      projectId,
      environment: "development",
    });
    await send([409, "AlreadyConnected"], "POST", complete, account);
    await ask([409, "AlreadyConnected"], "POST", ofProject, { ...vault.owner, body: account });
    vault.vendor.answer("close");
    await send([503, "ProviderUnavailable"], "POST", "", inPlace);
    await send([503, "ProviderUnavailable"], "POST", `/${loose.id}/rotate`, account);
    await send([503, "ProviderUnavailable"], "POST", complete, account);
    await ask([503, "ProviderUnavailable"], "POST", ofProject, { ...vault.owner, body: account });
    vault.vendor.answer(MODELS);
    await pool.query("UPDATE onboarding_session SET expires_at = created_at WHERE id = $1", [sessionId]);
    for (const target of ["", "/result"])
      await send([410, "Gone"], "GET", `/onboarding/sessions/${sessionId}${target}`);
    await send([410, "Gone"], "POST", complete, account);
    await send(200, "DELETE", `/${loose.id}`);
  });

  test("an invalid project is 422", async () => {
    await send([422, "list"], "GET", `?projectId=${"x".repeat(65)}`);
  });
});

everyStatusHasACase("credentials");
