import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "@/server/contract/enums";
import { systemCtx } from "@/server/domain/ctx";
import * as organizations from "@/server/domain/organizations";
import { newId } from "@/server/platform/ids";
import { DAY_SECONDS, HOUR_MS } from "@/server/platform/time/units";
import { type Call, call, makeKey, makeKeyWithId, makeTenant, sessionHeaders } from "@/testing/api";
import { COMPARED, COMPARISONS } from "@/testing/comparisons";
import { openRooms, type Rooms } from "@/testing/rooms";
import { openVault, type Vault } from "@/testing/vault";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import {
  at,
  BULK,
  BULKS,
  CHAT,
  get,
  hookBody,
  input,
  MATH,
  openTenant,
  owner,
  PIN,
  PINNED,
  post,
  RESPONSES,
  TEXT,
  tenant,
} from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** The organization of the tenant, its projects and keys. */
let rooms: Rooms;
beforeAll(async () => {
  rooms = await openRooms(tenant);
}, 60_000);

/** Connections of a tenant of their own, because work of this tenant's project would run on them. */
let vault: Vault;
beforeAll(async () => {
  vault = await openVault();
}, 60_000);
afterAll(() => vault.close());

everyEndpoint("organizations", { sample: ({ method, path }) => rooms.sample(method, path) });

describe("organizations, projects and keys", () => {
  const person = async (role: "owner" | "admin" | "member" | "viewer"): Promise<Call> => ({
    headers: await sessionHeaders(tenant.organizationId, role),
  });
  const newKey = () => makeKeyWithId({ projectId: tenant.projectId });
  const organization = () => `/v1/organizations/${tenant.organizationId}`;
  const newProject = async () =>
    (await ask(200, "POST", `${organization()}/projects`, { ...owner, body: { displayName: "Room" } })).json;

  test("each role may call only what it is allowed to, and strangers and unknown ids get 404", async () => {
    const stranger: Call = { headers: await sessionHeaders((await makeTenant()).organizationId, "owner") };
    const project = await newProject();
    const requests = (place: string, projectId: string, keyId: string) =>
      [
        ["viewer", "GET", `/v1/organizations/${place}`, undefined],
        ["viewer", "GET", `/v1/organizations/${place}/projects`, undefined],
        ["viewer", "GET", `/v1/organizations/${place}/projects/${projectId}`, undefined],
        ["viewer", "GET", `/v1/projects/${projectId}/environments`, undefined],
        ["admin", "GET", `/v1/organizations/${place}/audit-log`, undefined],
        ["admin", "GET", `/v1/organizations/${place}/audit-log-export`, undefined],
        ["admin", "PATCH", `/v1/organizations/${place}`, { displayName: "Tenant" }],
        ["admin", "POST", `/v1/organizations/${place}/projects`, { displayName: "One more" }],
        ["admin", "PATCH", `/v1/projects/${projectId}`, { displayName: "Renamed" }],
        ["member", "POST", "/v1/api-keys", { name: "k", projectId }],
        ["member", "POST", `/v1/api-keys/${keyId}/rotate`, {}],
        ["member", "POST", `/v1/api-keys/${keyId}/revoke`, {}],
        ["member", "DELETE", `/v1/api-keys/${keyId}`, undefined],
      ] as const;
    const roles = ["viewer", "member", "admin", "owner"] as const;
    const callers = await Promise.all(roles.map(async (role) => [role, await person(role)] as const));
    for (const [role, caller] of callers) {
      const { keyId } = await newKey();
      for (const [least, method, target, body] of requests(tenant.organizationId, project.id, keyId)) {
        const may = roles.indexOf(role) >= roles.indexOf(least);
        await ask(may ? 200 : [403, "AuthorizationFailed"], method, target, { ...caller, body });
      }
    }
    const { keyId } = await newKey();
    const absent = [newId("organization"), newId("project"), newId("key")] as const;
    for (const [, method, target, body] of requests(tenant.organizationId, project.id, keyId))
      await ask([404, "NotFound"], method, target, { ...stranger, body });
    for (const [, method, target, body] of requests(...absent))
      await ask([404, "NotFound"], method, target, { ...owner, body });
  });

  test("a project changes only in the fields sent, and invalid values are 422", async () => {
    const made = await newProject();
    expect(made.environments.map(({ slug }: { slug: string }) => slug)).toEqual([
      "development",
      "production",
    ]);
    const target = `/v1/projects/${made.id}`;
    const patch = (wanted: ExpectedStatus, body: object) => ask(wanted, "PATCH", target, { ...owner, body });
    const repository = { owner: "capstan", name: "harbour", url: "https://example.com/capstan/harbour" };
    const [development, production] = made.environments;
    const changed = await patch(200, {
      displayName: "Harbour",
      slug: newId("project").slice(4),
      repository,
      environments: [
        { id: production.id, slug: "production", displayName: "Live", status: "archived" },
        { slug: "staging" },
      ],
    });
    expect(changed.json).toMatchObject({
      displayName: "Harbour",
      repository: { provider: "github", ...repository },
    });
    expect(changed.json.environments).toMatchObject([
      { id: development.id, displayName: "Development", status: "active" },
      { id: production.id, displayName: "Live", status: "archived" },
      { slug: "staging", displayName: "staging", status: "active" },
    ]);
    expect((await patch(200, {})).json).toEqual(changed.json);
    expect((await patch(200, { clearRepository: true })).json).toEqual({ ...changed.json, repository: null });
    const listed = await ask(200, "GET", `${target}/environments`, owner);
    expect(listed.json.items).toEqual(changed.json.environments);

    const taken = (await newProject()).slug;
    for (const [body, loc] of [
      [{ slug: taken }, ["slug"]],
      [{ slug: "No slug" }, ["slug"]],
      [{ slug: "x".repeat(65) }, ["slug"]],
      [{ displayName: "" }, ["displayName"]],
      [{ displayName: "x".repeat(129) }, ["displayName"]],
      [{ status: "deleted" }, ["status"]],
      [{ clearRepository: true, repository }, ["clearRepository"]],
      [{ repository: { owner: "x" } }, ["repository", "name"]],
      [{ repository: { ...repository, url: "javascript:alert(1)" } }, ["repository", "url"]],
      [{ environments: [{ displayName: "No slug" }] }, ["environments", 0, "slug"]],
      [{ environments: [{ slug: "development" }] }, ["environments", 0, "slug"]],
      [{ environments: [{ slug: "two" }, { slug: "two" }] }, ["environments", 1, "slug"]],
      [{ environments: [{ id: development.id, slug: "dev" }] }, ["environments", 0, "slug"]],
      [{ environments: [{ id: newId("environment") }] }, ["environments", 0, "id"]],
      [{ environments: [{ id: development.id }, { id: development.id }] }, ["environments", 1, "id"]],
      [
        {
          environments: changed.json.environments.map(({ id }: { id: string }) => ({
            id,
            status: "archived",
          })),
        },
        ["environments"],
      ],
      [{ environments: Array.from({ length: 50 }, (_, n) => ({ slug: `e${n}` })) }, ["environments"]],
    ] as const) {
      const { json } = await patch([422, "list"], body);
      expect(json.detail[0].loc, JSON.stringify(body)).toEqual(["body", ...loc]);
    }
    expect((await patch(200, {})).json).toEqual({ ...changed.json, repository: null });
  });

  test("fields that a caller may not set are 422, and nothing changes", async () => {
    const { id } = await newProject();
    const { keyId } = await newKey();
    const strange = { organizationId: newId("organization"), id, createdAt: "2020-01-01T00:00:00Z" };
    for (const [method, target, body] of [
      ["PATCH", organization(), { displayName: "x", settings: { externalActions: true } }],
      ["PATCH", organization(), { displayName: "x", role: "owner" }],
      ["PATCH", `/v1/projects/${id}`, { organizationId: strange.organizationId }],
      ["PATCH", `/v1/projects/${id}`, { approvalThresholdMicros: 0 }],
      ["PATCH", `/v1/projects/${id}`, { settings: {} }],
      ["PATCH", `/v1/projects/${id}`, { environments: [{ slug: "e", projectId: newId("project") }] }],
      ["POST", `${organization()}/projects`, { displayName: "x", ...strange }],
      ["POST", "/v1/api-keys", { name: "k", projectId: id, createdBy: newId("user") }],
      ["POST", "/v1/api-keys", { name: "k", projectId: id, organizationId: strange.organizationId }],
      ["POST", "/v1/api-keys", { name: "k", projectId: id, scopes: ["everything"] }],
      ["POST", "/v1/api-keys", { name: "k" }],
      ["POST", `/v1/api-keys/${keyId}/rotate`, { scopes: ["credentials:write"] }],
      ["POST", `/v1/api-keys/${keyId}/rotate`, { overlapSeconds: -1 }],
      ["POST", `/v1/api-keys/${keyId}/rotate`, { overlapSeconds: 30 * DAY_SECONDS + 1 }],
    ] as const)
      await ask([422, "list"], method, target, { ...owner, body });
    await ask([422, "list"], "GET", "/v1/api-keys?includeRevoked=perhaps", owner);
    const none = { name: "k", projectId: id, environment: "nowhere" };
    await ask([422, "InvalidInput"], "POST", "/v1/api-keys", { ...owner, body: none });
  });

  test("an archived project or environment refuses work and changes at once, and can be read", async () => {
    const { id, environments } = await newProject();
    const key = await makeKey({ projectId: id, scopes: [...SCOPES] });
    const live = (
      await ask(200, "POST", "/v1/api-keys", {
        ...owner,
        body: { name: "live", projectId: id, environment: "production" },
      })
    ).json.apiKey;
    const run = (key: string) =>
      call("POST", at(MATH, "invoke"), { key, body: { input: { expression: "1 + 1" } } });
    const { executionId, receiptId } = (await run(key)).json;
    const hook = (await ask(201, "POST", "/v1/delivery-endpoints", { key, body: hookBody })).json;
    const patch = (body: object) => ask(200, "PATCH", `/v1/projects/${id}`, { ...owner, body });
    const slug = ({ slug }: { slug: string }) => slug === "production";
    await patch({ environments: [{ id: environments.find(slug).id, status: "archived" }] });
    expect((await run(live)).status).toBe(403);
    expect((await run(key)).status).toBe(200);
    await patch({ status: "archived" });
    const refused = await run(key);
    expect(refused.json.detail).toMatchObject({
      code: "AuthorizationFailed",
      message: expect.stringContaining("archived"),
    });
    for (const target of [
      `/v1/jobs/${executionId}`,
      `/v1/jobs/${executionId}/receipt`,
      `/v1/projects/${id}/jobs`,
    ])
      await get(200, target, { key });
    expect(receiptId).toMatch(/^rcpt_/);
    const found = `/v1/delivery-endpoints/${hook.endpointId}`;
    const turned = { key, body: { url: "https://elsewhere.example/in" } };
    await ask([403, "AuthorizationFailed"], "PATCH", found, turned);
    await get(200, "/v1/delivery-endpoints", { key });
    await ask([422, "InvalidInput"], "POST", "/v1/api-keys", {
      ...owner,
      body: { name: "k", projectId: id },
    });
    await patch({ status: "active" });
    expect((await run(key)).status).toBe(200);
  });

  test("keys are listed under both names, and a rotated key works during the overlap and rotates once", async () => {
    const body = {
      name: "To rotate",
      projectId: tenant.projectId,
      scopes: ["jobs:read"],
      expiresInSeconds: 3_600,
    };
    const made = (await ask(200, "POST", "/v1/api-keys", { ...owner, body })).json;
    const rotate = (wanted: ExpectedStatus, keyId: string, body: object = {}) =>
      ask(wanted, "POST", `/v1/api-keys/${keyId}/rotate`, { ...owner, body });
    const works = async (key: string) => (await call("GET", "/v1/jobs?limit=1", { key })).status;
    const second = (await rotate(200, made.keyId, { overlapSeconds: 120 })).json;
    expect(second).toMatchObject({ name: made.name, scopes: made.scopes, environment: "development" });
    expect(Date.parse(second.expiresAt) - Date.parse(second.createdAt)).toBe(HOUR_MS);
    expect([await works(made.apiKey), await works(second.apiKey)]).toEqual([200, 200]);
    const again = await rotate([409, "KeyNotRotatable"], made.keyId);
    expect(again.json.detail.details).toEqual({ keyId: made.keyId, replacedBy: second.keyId });
    const third = (await rotate(200, second.keyId)).json;
    expect([await works(second.apiKey), await works(third.apiKey)]).toEqual([401, 200]);
    const list = async (query: string) => (await ask(200, "GET", `/v1/api-keys${query}`, owner)).json;
    const all = await list("?includeRevoked=true");
    expect(all.keys).toEqual(all.items);
    const of = (id: string) => all.keys.find(({ keyId }: { keyId: string }) => keyId === id);
    expect(of(made.keyId)).toMatchObject({ replacedBy: second.keyId, revoked: false });
    expect(Date.parse(of(made.keyId).expiresAt) - Date.now()).toBeLessThan(121_000);
    expect(of(second.keyId)).toMatchObject({ replacedBy: third.keyId, revoked: true });
    expect((await list("")).keys.map(({ keyId }: { keyId: string }) => keyId)).not.toContain(second.keyId);
    expect(JSON.stringify(all)).not.toContain(made.apiKey.slice(30));
    const wide = await makeKeyWithId({ projectId: tenant.projectId, scopes: ["credentials:write"] });
    await ask([403, "AuthorizationFailed"], "POST", `/v1/api-keys/${wide.keyId}/rotate`, {
      ...(await person("member")),
      body: {},
    });
  });
});

describe("settings of an organization", () => {
  const agree = (organizationId: string, limits: object) =>
    organizations.changePlan(systemCtx("test"), organizationId, { limits });

  test("executions that would reach a provider are 403 in every endpoint, and the sandbox's continue", async () => {
    const { organizationId, key } = vault.tenant;
    const openai = { input, preferredModel: "gpt-4.1-mini" };
    const queued = await post(200, at(TEXT, "jobs"), openai, { key });
    await post(200, `/v1/jobs/${queued.json.jobId}/cancel`, undefined, { key });
    await organizations.setExternalActions(systemCtx("test"), organizationId, false);
    const refused = [403, "EXTERNAL_ACTIONS_DISABLED"] as const;
    const competitor = { axis: "provider", providerPin: "openai-text" };
    const pin = { provider: "openai", model: "gpt-4.1-mini", api: "responses" };
    const sampling = { maxOutputTokens: 100 };
    for (const [path, body] of [
      [at(TEXT, "invoke"), openai],
      [at(TEXT, "invoke"), { ...openai, executionMode: "Stream" }],
      [at(TEXT, "jobs"), openai],
      [`/v1/jobs/${queued.json.jobId}/retry`, undefined],
      [COMPARISONS, { ...COMPARED, competitors: [COMPARED.competitors[0], competitor] }],
      [PINNED, { ...PIN, pin, sampling }],
      [BULKS, { ...BULK, pin, sampling }],
    ] as const) {
      const { json } = await post([...refused], path, body, { key });
      expect((json.detail ?? json).details, path).toMatchObject({
        upgradeUrl: expect.stringContaining(`/projects/${vault.tenant.projectId}/organization`),
      });
    }
    const model = "openai/gpt-4.1-mini";
    await post([...refused], CHAT, { model, messages: [{ role: "user", content: "Hello." }] }, { key });
    await post([...refused], RESPONSES, { model, input: "Hello." }, { key });
    await post(200, at(TEXT, "invoke"), { input, preferredModel: "sandbox-1" }, { key });
    const reason = "external_actions_disabled";
    const url = expect.stringContaining(`/projects/${vault.tenant.projectId}/organization`);
    const ready = (await ask(200, "GET", `/v1/diagnostics/readiness?capabilities=${TEXT}`, { key })).json;
    expect(ready).toMatchObject({
      ready: false,
      capabilities: [
        {
          accessDecision: {
            runnable: false,
            reason,
            requiredAction: { kind: "enable_external_actions", url },
          },
        },
      ],
    });
    const { detail } = ready.checks.find(({ name }: { name: string }) => name === "provider");
    expect(detail).toContain("turned off");
    const { targets } = (await ask(200, "GET", at(TEXT, "execution-targets"), { key })).json;
    const reasonOf = (provider: string) =>
      targets.find((each: { provider: string }) => each.provider === provider).availability.reason;
    expect([reasonOf("openai"), reasonOf("sandbox")]).toEqual([reason, null]);
    const interaction = async () =>
      (await ask(200, "GET", `/v1/capabilities/${TEXT}`, { key })).json.interaction;
    expect(await interaction()).toEqual({ typicallyRequired: true, reason });
    await organizations.setExternalActions(systemCtx("test"), organizationId, true);
    expect(await interaction()).toEqual({ typicallyRequired: false, reason: null });
  });

  test("a project, environment or key beyond a limit of the plan is 403, with the limit and the plan", async () => {
    const full = await makeTenant();
    const owner = { headers: await sessionHeaders(full.organizationId, "owner") };
    await agree(full.organizationId, { projects: 1, environments: 2, apiKeys: 1 });
    const environments = [{ slug: "staging", displayName: "Staging" }];
    for (const [method, path, body, limit] of [
      ["POST", `/v1/organizations/${full.organizationId}/projects`, { displayName: "More" }, "projects"],
      ["PATCH", `/v1/projects/${full.projectId}`, { environments }, "environments"],
      [
        "POST",
        "/v1/api-keys",
        { projectId: full.projectId, name: "more", environment: "development" },
        "apiKeys",
      ],
    ] as const) {
      const { json } = await ask([403, "PlanLimitReached"], method, path, { ...owner, body });
      expect(json.detail.details).toMatchObject({ limit, plan: "self-hosted", upgrade: null });
    }
    const { json } = await ask(200, "GET", `/v1/billing/plans?organizationId=${full.organizationId}`, owner);
    expect(json).toMatchObject({
      currentPlan: "capstan.self_hosted.v1",
      organizationId: full.organizationId,
      limits: { projects: 1, apiKeys: 1, users: null },
      used: { users: 1, projects: 2, activeDurableJobs: 0 },
    });
  });

  test("an hourly limit of executions that is used up is 429, with the time to retry", async () => {
    const busy = await makeTenant();
    await agree(busy.organizationId, { lightweightInferencesPerHour: 1 });
    await post(200, at(TEXT, "invoke"), { input }, { key: busy.key });
    const refused = await post([429, "RateLimited"], at(TEXT, "invoke"), { input }, { key: busy.key });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((refused.json.detail ?? refused.json).details).toMatchObject({
      most: 1,
      current: 1,
      upgrade: null,
    });
  });
});

everyStatusHasACase("organizations");
