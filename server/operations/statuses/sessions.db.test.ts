import { beforeAll, describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { systemCtx } from "@/server/domain/ctx";
import * as organizations from "@/server/domain/organizations";
import * as sessions from "@/server/domain/sessions";
import { newId } from "@/server/platform/ids";
import { call, makeTenant, sessionOf } from "@/testing/api";
import { definePanel, isOfPanels, openPanel, openPanels, type Panels } from "@/testing/embeds";
import { makePerson } from "@/testing/tenants";
import { ask, type ExpectedStatus, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint, type Request } from "./every-endpoint.fixture";
import { at, get, input, openTenant, owner, post, TEXT, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** Embeds of the tenant, and a page with a session. */
let panels: Panels;
beforeAll(async () => {
  panels = await openPanels(tenant);
}, 60_000);

/** The code of a device that no one has approved. */
let waitingDevice: string;
beforeAll(async () => {
  waitingDevice = (await call("POST", "/v1/auth/device/start", { body: {} })).json.deviceCode;
}, 60_000);

/** A request that succeeds, for each endpoint. */
function sample({ method, path }: Endpoint): Request {
  if (isOfPanels(path)) return panels.sample(method, path);
  const target = path.replace("{project_id}", tenant.projectId).replace("{session_id}", newId("session"));
  if (path === "/v1/auth/device/token") return { method, target, body: { deviceCode: waitingDevice } };
  if (path === "/v1/auth/device/start")
    return { method, target, body: { clientName: "capstan on a laptop" } };
  return { method, target };
}

everyEndpoint("sessions", { sample, page: () => panels.page });

describe("request ids", () => {
  test("a well-formed id of the caller is kept, any other is replaced", async () => {
    const own = await get(200, "/v1/jobs", { headers: { "x-request-id": "mine-1" } });
    expect(own.headers["x-request-id"]).toBe("mine-1");
    const hostile = await get(200, "/v1/jobs", { headers: { "x-request-id": "a b\r\nset-cookie: x" } });
    expect(hostile.headers["x-request-id"]).toMatch(/^req_/);
  });

  test("a retired path is 410, with its replacement", async () => {
    for (const [method, path, replacement] of [
      ["POST", "/v1/jobs", "POST /v1/capabilities/{capability_key}/jobs"],
      ["POST", "/v1/invocations", "POST /v1/capabilities/{capability_key}/invoke"],
      ["GET", "/v1/invocations/inv_1", "GET /v1/jobs/{job_id}"],
      ["GET", "/v1/invocations/inv_1/receipt", "GET /v1/jobs/{job_id}/receipt"],
      ["POST", "/v1/invocations/inv_1/cancel", "POST /v1/jobs/{job_id}/cancel"],
    ] as const) {
      const body = method === "POST" ? { body: {} } : {};
      const { json } = await ask([410, "Gone"], method, path, { key: tenant.key, ...body });
      expect(json.detail).toEqual({
        code: "Gone",
        message: expect.stringContaining(replacement),
        details: { replacement },
      });
      await ask([401, "AuthenticationFailed"], method, path, { key: "cap_development_nothing", ...body });
    }
    await get(200, "/v1/jobs");
  });

  test("an unknown path is 404, and another method is 405 with the allowed ones", async () => {
    await get([404, "NotFound"], "/v1/nothing");
    const refused = await ask([405, "MethodNotAllowed"], "DELETE", "/v1/jobs", { key: tenant.key });
    expect(refused.headers.allow).toBe("GET, HEAD, OPTIONS");
  });
});

describe("keys, session and references", () => {
  test("the key set is public, cacheable for a minute, and 304 for a caller that has it", async () => {
    const { json, headers } = await ask(200, "GET", "/.well-known/jwks.json");
    expect(json.keys[0]).toMatchObject({ kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" });
    expect(Object.keys(json.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
    expect(headers["cache-control"]).toBe("public, max-age=60");
    expect(headers["access-control-allow-origin"]).toBe("*");
    for (const known of [headers.etag ?? "", `W/${headers.etag}`, `"other", ${headers.etag}`, "*"])
      await ask(304, "GET", "/.well-known/jwks.json", { headers: { "if-none-match": known } });
  });

  test("diagnostics show a key's rights, the providers it reaches and whether it could run work", async () => {
    const { json: session } = await get(200, "/v1/diagnostics/session");
    expect(session).toMatchObject({
      authenticated: true,
      organizationId: tenant.organizationId,
      tokenProjectId: tenant.projectId,
      principalProjectId: tenant.projectId,
    });
    const { json: reached } = await get(200, "/v1/diagnostics/providers");
    expect(reached).toMatchObject({ projectId: tenant.projectId, imageGenerationReady: true });
    const target = "/v1/diagnostics/readiness";
    const { json } = await get(200, `${target}?capabilities=image.generate.v1&capabilities=image.paint.v1`);
    expect(json).toMatchObject({
      ready: false,
      capabilities: [
        { capabilityKey: "image.generate.v1", known: true, ready: true },
        { capabilityKey: "image.paint.v1", known: false, ready: false, accessDecision: null },
      ],
    });
    expect(json.capabilities[1].nearestMatches.length).toBeGreaterThan(0);
    for (const of of ["/v1/diagnostics/session", "/v1/diagnostics/providers", target])
      await ask([401, "AuthenticationFailed"], "GET", of);
    for (const of of ["/v1/diagnostics/providers", target]) {
      await get([403, "AuthorizationFailed"], `${of}?projectId=${tenant.otherProjectId}`);
      await get([422, "list"], `${of}?environment=NOT%20ONE`);
    }
    await get([422, "list"], `${target}?capabilities=`);
  });

  test("the context for agents is public, by profile, and 304 for a caller that has it", async () => {
    const { json, headers } = await ask(200, "GET", "/v1/agent-context?profile=compact");
    expect(json).toMatchObject({ version: "service-public-1", profile: "compact" });
    const { text } = await ask(304, "GET", "/v1/agent-context?profile=compact", {
      headers: { "if-none-match": headers.etag ?? "" },
    });
    expect(text).toBe("");
    await ask([422, "list"], "GET", "/v1/agent-context?profile=long");
  });

  test("the session shows the caller and the project; an invalid project is 422 or 403", async () => {
    const { json } = await get(200, "/v1/session/context");
    expect(json).toEqual({
      needsOnboarding: false,
      organization: { id: tenant.organizationId, displayName: "Tenant" },
      project: { id: tenant.projectId, displayName: "One", slug: "one" },
      environment: { id: expect.stringMatching(/^env_/), slug: "development", displayName: "Development" },
      productId: null,
      identity: {
        provider: "api_key",
        account: expect.stringMatching(/^cap_development_.{6}$/),
        displayName: "test",
        authenticated: true,
      },
    });
    const unbound = { key: tenant.unboundKey };
    const other = `/v1/session/context?projectId=${tenant.otherProjectId}`;
    expect((await get(200, other, unbound)).json.project.displayName).toBe("Two");
    await get([403, "AuthorizationFailed"], other);
    await get([403, "AuthorizationFailed"], `/v1/session/context?projectId=${newId("project")}`, unbound);
    await get([422, "list"], "/v1/session/context?projectId=");
  });

  test("a signed-in person's session has the person, and without a project asks for onboarding", async () => {
    const { organizationId } = await makeTenant();
    const cookie = await sessionOf(organizationId);
    const { json } = await ask(200, "GET", "/v1/session/context", { headers: { cookie } });
    expect(json).toMatchObject({
      needsOnboarding: false,
      organization: { id: organizationId },
      project: { displayName: "One" },
      environment: { slug: "development" },
      identity: { provider: "browser", account: expect.stringMatching(/@capstan\.test$/) },
    });
    const empty = await organizations.createOrganization(systemCtx("test"), { name: "Empty" });
    const alone = await sessionOf(empty.organizationId);
    const fresh = await ask(200, "GET", "/v1/session/context", { headers: { cookie: alone } });
    expect(fresh.json).toMatchObject({
      needsOnboarding: true,
      organization: { displayName: "Empty" },
      project: null,
      environment: null,
    });
  });

  test("the list of references refuses invalid values, and an unknown project is 404", async () => {
    const target = `/v1/projects/${tenant.projectId}/references`;
    for (const query of ["limit=0", "limit=201", "cursor=x"]) {
      const { json } = await get([422, "list"], `${target}?${query}`);
      expect(json.detail[0].loc).toEqual(["query", query.split("=")[0]]);
    }
    await get([404, "NotFound"], `/v1/projects/${newId("project")}/references`);
  });
});

describe("sign-in of devices", () => {
  const start = async (clientName = "capstan on a laptop") =>
    (await ask(200, "POST", "/v1/auth/device/start", { body: { clientName } })).json;
  const redeem = (wanted: ExpectedStatus, body: object) =>
    ask(wanted, "POST", "/v1/auth/device/token", { body });

  test("start returns 200 in both spellings, also without a body, and 422 for a name with hidden characters", async () => {
    const { json } = await ask(200, "POST", "/v1/auth/device/start");
    expect(json.userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(json).toMatchObject({
      user_code: json.userCode,
      device_code: json.deviceCode,
      verification_uri: json.verificationUri,
      verification_uri_complete: json.verificationUriComplete,
      expires_in: json.expiresIn,
      expiresIn: 900,
      interval: 2,
    });
    expect(json.verificationUriComplete).toBe(`${json.verificationUri}?code=${json.userCode}`);
    for (const clientName of ["", " ", "x".repeat(81), "a\u202eb", "a\nb", 7])
      await ask([422, "list"], "POST", "/v1/auth/device/start", { body: { clientName } });
  });

  test("token returns 428 until approved, 200 once, then 410, and 410 if denied or unknown", async () => {
    const { ctx } = await makePerson(tenant.organizationId, "member");
    const { userCode, deviceCode } = await start();
    const waiting = await redeem([428, "AuthorizationPending"], { device_code: deviceCode });
    expect(waiting.json.detail.details).toEqual({ interval: 2 });
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const { json } = await redeem(200, { deviceCode });
    expect(json).toMatchObject({ principalId: ctx.principal.id, appBaseUrl: "http://localhost:3000" });
    const used = await redeem([410, "Gone"], { deviceCode });
    expect(used.json.detail.details).toEqual({ reason: "used" });
    const denied = await start();
    await sessions.decideDevice(ctx, { userCode: denied.userCode, decision: "denied" });
    await redeem([410, "Gone"], { deviceCode: denied.deviceCode });
    await redeem([410, "Gone"], { deviceCode: "of-nothing" });
    for (const body of [{}, { deviceCode: "" }, { deviceCode, device_code: deviceCode }, { deviceCode: 7 }])
      await redeem([422, "list"], body);
  });

  test("a device's token acts for the person without cookie, origin or CSRF token, and ends with its session", async () => {
    const { ctx } = await makePerson(tenant.organizationId, "admin");
    const { userCode, deviceCode } = await start();
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const { json } = await redeem(200, { deviceCode });
    const key = json.sessionToken;
    expect(key).toMatch(/^caps_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
    const { items } = (await get(200, "/v1/auth/sessions", { key })).json;
    expect(
      items.map(({ kind, label, isCurrent }: (typeof items)[0]) => [kind, label, isCurrent]),
    ).toContainEqual(["device", "capstan on a laptop", true]);
    const { identity } = (await get(200, "/v1/session/context", { key })).json;
    expect(identity.provider).toBe("device");
    const body = { name: "made by a device", projectId: tenant.projectId };
    await ask(200, "POST", "/v1/api-keys", { key, body });
    await ask([403, "AuthorizationFailed"], "POST", at(TEXT, "jobs"), { key, body: { input } });
    const end = `/v1/auth/sessions/${json.sessionId}`;
    await ask([404, "NotFound"], "DELETE", end, owner);
    expect((await ask(200, "DELETE", end, { key })).json).toEqual({
      sessionId: json.sessionId,
      revoked: true,
    });
    await get([401, "AuthenticationFailed"], "/v1/auth/sessions", { key });
  });
});

describe("embeds", () => {
  test("unknown and other tenants' embeds and sessions are 404, and a list refuses an empty project", async () => {
    const stranger = (await makeTenant()).key;
    const { id } = await definePanel(tenant);
    const { sessionId } = await openPanel(tenant);
    for (const [key, panel, session] of [
      [tenant.key, newId("panelDefinition"), newId("panelSession")],
      [stranger, id, sessionId],
    ] as const) {
      const missing = [404, "NotFound"] as const;
      const [of, at] = [`/v1/panel-definitions/${panel}`, `/v1/panel-sessions/${session}`];
      await ask([...missing], "GET", of, { key });
      await ask([...missing], "PATCH", of, { key, body: { displayName: "Mine" } });
      await ask([...missing], "GET", at, { key });
      await ask([...missing], "POST", `${at}/revoke`, { key, body: {} });
      await ask([...missing], "POST", `${at}/launch-codes`, { key, body: {} });
    }
    await get([422, "list"], "/v1/panel-definitions?projectId=");
  });

  test("a revoked session gives no launch code, and its token is 401", async () => {
    const { sessionId, accessToken, as } = await openPanel(tenant);
    await get(200, "/v1/panel/bootstrap", as());
    const elsewhere = { origin: "https://elsewhere.test" };
    await get([403, "CrossSiteRequest"], "/v1/panel/bootstrap", { key: accessToken, headers: elsewhere });
    await get([403, "AuthorizationFailed"], "/v1/panel/bootstrap", { key: tenant.key });
    await post(200, `/v1/panel-sessions/${sessionId}/revoke`, {});
    await post([410, "Gone"], `/v1/panel-sessions/${sessionId}/launch-codes`, {});
    await get([401, "AuthenticationFailed"], "/v1/panel/bootstrap", as());
  });
});

everyStatusHasACase("sessions");
